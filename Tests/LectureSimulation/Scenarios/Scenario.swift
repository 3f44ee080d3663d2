/// One story before it is told: who wants what, what goes wrong, and when.
///
/// A scenario is made from a seed (``init(seed:)``), but it is a value of its own: printed as JSON, changed by hand and
/// told again. A regression is kept as such a value, since another generator makes another scenario of the same seed.
package struct Scenario: Codable, Sendable, Equatable {
    /// Counts up whenever the same seed makes another scenario than before.
    package static let generation = 1

    /// The generator it was made by.
    package var generation = Scenario.generation
    /// The chance inside the world: delays, blocks that a power cut loses, the jitter of the engine.
    package var seed: UInt64
    /// How programs work.
    package var work = Work()
    /// What is wanted.
    package var lectures: [Lecture] = []
    /// How the network is on the whole.
    package var weather = Weather()
    /// What servers do wrong.
    package var troubles: [Trouble] = []
    /// What the disk refuses.
    package var diskFaults: [DiskFault] = []
    /// What the store refuses.
    package var storeFaults: [StoreFault] = []
    /// When programs die: the first program has the first of them, the next one to be started the second.
    package var deaths: [Death] = []
    /// What people want later.
    package var wishes: [Wish] = []
    /// When the wall clock is set.
    package var clockSteps: [ClockStep] = []

    /// A scenario in which nobody wants anything.
    package init(plain seed: UInt64) { self.seed = seed }
}

/// How programs work.
package struct Work: Codable, Sendable, Equatable {
    /// How many programs share the store.
    package var programs = 1
    /// Items at once.
    package var jobs = 4
    /// Connections for one file; nil for as many as help.
    package var connections: Int?
    /// Bytes that are synced and committed together.
    package var groupBytes = 8 << 20
    /// Milliseconds that received bytes wait at the most.
    package var groupMilliseconds = 250
    /// Seconds until a minute begins in which the timetable allows nothing; nil for no timetable.
    package var closesAfter: Int?
    /// A bound of all downloads, in bytes a second.
    package var rateLimit: Int?
}

/// A lecture and the servers that have it.
package struct Lecture: Codable, Sendable, Equatable {
    /// How a lecture is found.
    package enum Source: String, Codable, Sendable, CaseIterable {
        /// The URL is the media.
        case direct
        /// The URL leads to a description.
        case gateway
        /// The URL is the media, and the application knows a new one when it is over.
        case resolver
    }

    /// Another server of the same lecture, or of what it takes for it.
    package enum Mirror: String, Codable, Sendable, CaseIterable {
        /// The same bytes and validators.
        case agrees
        /// The same bytes under another validator.
        case otherTag
        /// Other bytes of the same length.
        case otherBytes
        /// Nobody is there.
        case gone
    }

    /// The object's length.
    package var size = 0
    /// Which of the servers it is on.
    package var server = 0
    /// How it is found.
    package var source = Source.direct
    /// Other servers.
    package var mirrors: [Mirror] = []
    /// Whether there is an entity tag.
    package var hasTag = true
    /// Whether there is a `Last-Modified`.
    package var hasDate = false
    /// Whether ranges are answered with ranges.
    package var hasRanges = true
    /// Whether answers say no length; only without ranges.
    package var hidesLength = false
    /// Whether the wish names the digest.
    package var knowsDigest = false
    /// Whether the wish names the size.
    package var knowsSize = false
    /// Whether there is a picture, which may be missing; only with a gateway.
    package var hasPicture = false
    /// Requests after which a URL is over; nil for never.
    package var urlRequests: Int?
    /// Whether finished bytes shall also stand outside.
    package var hasOutput = false
    /// When its bytes become others.
    package var changes: [Change] = []

    /// The object becomes another one.
    package struct Change: Codable, Sendable, Equatable {
        /// With which request for it, from 1.
        package var request: Int
        /// Whether validators stay, which no server should do.
        package var keepsValidators: Bool
        /// How many bytes more it has.
        package var grows: Int
    }
}

/// How the network is on the whole.
package struct Weather: Codable, Sendable, Equatable {
    /// Milliseconds until a header comes, at the most.
    package var latency = 80
    /// KiB every 10 ms, at the least and at the most.
    package var pace = [128, 1024]
    /// How many answers of a hundred break.
    package var breaks = 0
    /// How many requests of a hundred do not get an answer.
    package var losses = 0
    /// The request for a lecture after which the weather is fine.
    package var untilRequest = 25
}

/// What a server does wrong.
package struct Trouble: Codable, Sendable, Equatable {
    /// Which lecture's.
    package var lecture: Int
    /// From which request for it on, from 1.
    package var request: Int
    /// For how many requests.
    package var count = 1
    /// What.
    package var fault: Fault
    /// Seconds, per cent or bytes, as the fault has it.
    package var value = 0
}

/// What the disk refuses.
package struct DiskFault: Codable, Sendable, Equatable {
    /// What fails.
    package var operation: DiskOperation
    /// The how manyth of them is the first to fail, from 1.
    package var number: Int
    /// How many fail.
    package var count = 1
    /// Whether the disk is full, and not broken.
    package var isFull = false
}

/// What the store refuses.
package struct StoreFault: Codable, Sendable, Equatable {
    /// The ways to refuse.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// Another process holds the write lock: SQLite's own SQLITE_BUSY.
        case busy
        /// The database may not grow: SQLite's own SQLITE_FULL.
        case full
        /// A transaction cannot begin.
        case busyBegin
        /// A commit fails, and the transaction is rolled back.
        case failingCommit
        /// A statement fails.
        case failingCall
    }

    /// How.
    package var kind: Kind
    /// From when on, in milliseconds.
    package var at: Int
    /// For how long, in milliseconds.
    package var lasts: Int
    /// How many refusals there are at the most.
    package var count = 1
}

/// The end of a program.
package struct Death: Codable, Sendable, Equatable {
    /// The action of that program's life, from 1. A program that comes to its end before does not die.
    package var action: Int
    /// Whether the action still takes place.
    package var isAfter: Bool
    /// Whether the power fails: all programs die, and what was not synced may be lost.
    package var cutsPower: Bool
    /// Milliseconds until a program takes its place.
    package var pause = 0
}

/// What somebody wants.
package struct Wish: Codable, Sendable, Equatable {
    /// The kinds of wishes.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        case pause
        case resume
        case cancel
        case remove
        case first
        /// The same wish once more.
        case again
        /// The lecture is another one now, and its digest is known.
        case otherDigest
        /// A digest that no server's bytes have.
        case wrongDigest
        case pauseAll
        case resumeAll
    }

    /// When, in milliseconds.
    package var at: Int
    /// Which lecture.
    package var lecture: Int
    /// What.
    package var kind: Kind
    /// Whether programs are told, and do not only find it in the store.
    package var isTold: Bool
}

/// The wall clock is set.
package struct ClockStep: Codable, Sendable, Equatable {
    /// When, in milliseconds.
    package var at: Int
    /// By how many seconds; nil sets it to 1970.
    package var by: Int?
}
