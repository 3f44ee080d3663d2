/// The input of one run: what is requested, what fails, and when.
///
/// A scenario is made from a seed (``init(seed:)``), but it is a value of its own: printed as JSON, changed by hand and
/// run again. A regression is kept as such a value, since another generator makes another scenario of the same seed.
package struct Scenario: Codable, Sendable, Equatable {
    /// Incremented whenever the same seed makes another scenario than before.
    package static let generation = 1

    /// The generator that made it.
    package var generation = Scenario.generation
    /// The randomness inside the world: delays, blocks that a power cut loses, the jitter of the engine.
    package var seed: UInt64
    /// How programs work.
    package var work = Work()
    /// The requested lectures.
    package var lectures: [Lecture] = []
    /// The general state of the network.
    package var weather = Weather()
    /// Server faults.
    package var troubles: [Trouble] = []
    /// Disk faults.
    package var diskFaults: [DiskFault] = []
    /// Store faults.
    package var storeFaults: [StoreFault] = []
    /// When programs die: the first program gets the first of them, the next program started the second.
    package var deaths: [Death] = []
    /// Later requests.
    package var requests: [Request] = []
    /// When the wall clock is set.
    package var clockSteps: [ClockStep] = []

    /// The same with licences and reports in the loop of each program. What has a plain URL is found by a gateway,
    /// which names a licence server.
    package var whole: Scenario {
        var scenario = self
        scenario.work.isWhole = true
        for number in lectures.indices where lectures[number].source == .direct {
            scenario.lectures[number].source = .gateway
        }
        return scenario
    }

    /// A scenario without requests.
    package init(plain seed: UInt64) { self.seed = seed }
}

/// How programs work.
package struct Work: Codable, Sendable, Equatable {
    /// How many programs share the store.
    package var programs = 1
    /// Lectures at once.
    package var jobs = 4
    /// Connections for one file; nil for the engine's choice.
    package var connections: Int?
    /// Bytes that are synced and committed together.
    package var groupBytes = 8 << 20
    /// Milliseconds that received bytes wait at most.
    package var groupMilliseconds = 250
    /// Seconds until a minute starts in which the timetable allows nothing; nil for no timetable.
    package var closesAfter: Int?
    /// A limit for all downloads, in bytes a second.
    package var rateLimit: Int?
    /// Whether licences and reports run in the same loop; nil for downloads alone.
    package var isWhole: Bool?
}

/// A lecture and the servers that have it.
package struct Lecture: Codable, Sendable, Equatable {
    /// How a lecture is found.
    package enum Source: String, Codable, Sendable, CaseIterable {
        /// The URL is the media.
        case direct
        /// The URL leads to a description.
        case gateway
        /// The URL is the media, and the application has a new one when it expires.
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
        /// No server is there.
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
    /// Whether answers have no length; only without ranges.
    package var hidesLength = false
    /// Whether the request has the digest.
    package var knowsDigest = false
    /// Whether the request has the size.
    package var knowsSize = false
    /// Whether there is a picture, which may be missing; only with a gateway.
    package var hasPicture = false
    /// Requests after which a URL expires; nil for never.
    package var urlRequests: Int?
    /// Whether the finished file is also copied to an output.
    package var hasOutput = false
    /// When its bytes change.
    package var changes: [Change] = []

    /// A change of the object.
    package struct Change: Codable, Sendable, Equatable {
        /// The number of the request for it, from 1.
        package var request: Int
        /// Whether validators stay, which no server should allow.
        package var keepsValidators: Bool
        /// How many bytes longer it becomes.
        package var grows: Int
    }
}

/// The general state of the network.
package struct Weather: Codable, Sendable, Equatable {
    /// Milliseconds until a header comes, at most.
    package var latency = 80
    /// KiB every 10 ms, minimum and maximum.
    package var pace = [128, 1024]
    /// How many answers in a hundred break.
    package var breaks = 0
    /// How many requests in a hundred get no answer.
    package var losses = 0
    /// The request for a lecture after which the network is reliable.
    package var untilRequest = 25
}

/// A server fault.
package struct Trouble: Codable, Sendable, Equatable {
    /// The lecture.
    package var lecture: Int
    /// The first request for it, from 1.
    package var request: Int
    /// For how many requests.
    package var count = 1
    /// The fault.
    package var fault: Fault
    /// Seconds, per cent or bytes, depending on the fault.
    package var value = 0
}

/// A disk fault.
package struct DiskFault: Codable, Sendable, Equatable {
    /// What fails.
    package var operation: DiskOperation
    /// The number of the first of them to fail, from 1.
    package var number: Int
    /// How many fail.
    package var count = 1
    /// Whether the disk is full, and not broken.
    package var isFull = false
}

/// A store fault.
package struct StoreFault: Codable, Sendable, Equatable {
    /// The kinds of failure.
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

    /// The kind.
    package var kind: Kind
    /// The start, in milliseconds.
    package var at: Int
    /// The duration, in milliseconds.
    package var lasts: Int
    /// How many refusals there are at most.
    package var count = 1
}

/// The end of a program.
package struct Death: Codable, Sendable, Equatable {
    /// The number of the action in that program's life, from 1. A program that ends before it does not die.
    package var action: Int
    /// Whether the action still takes place.
    package var isAfter: Bool
    /// Whether the power fails: all programs die, and what was not synced may be lost.
    package var cutsPower: Bool
    /// Milliseconds until a program replaces it.
    package var pause = 0
}

/// A user's request.
package struct Request: Codable, Sendable, Equatable {
    /// The kinds of requests.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        case pause
        case resume
        case cancel
        case remove
        case first
        /// The same request once more.
        case again
        /// The lecture has changed, and its new digest is known.
        case otherDigest
        /// A digest that no server's bytes have.
        case wrongDigest
        case pauseAll
        case resumeAll
    }

    /// When, in milliseconds.
    package var at: Int
    /// The lecture.
    package var lecture: Int
    /// The kind.
    package var kind: Kind
    /// Whether programs are notified, or only find it in the store.
    package var isReported: Bool
}

/// The wall clock is set.
package struct ClockStep: Codable, Sendable, Equatable {
    /// When, in milliseconds.
    package var at: Int
    /// By how many seconds; nil sets it to 1970.
    package var by: Int?
}
