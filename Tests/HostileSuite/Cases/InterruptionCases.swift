extension HostileCase {
    /// The connection ends or stops in the middle.
    static let interruptions: [HostileCase] = [
        HostileCase("fin-once", .interruptions, "FIN after 2 MB of the first body.", due: .rightBytes) { visit in
            .answer(visit.honest().with { if visit.isFirst("body") { $0.ending = .cut(after: 2_000_000) } })
        }.promising(.resumed())
    ]
}
