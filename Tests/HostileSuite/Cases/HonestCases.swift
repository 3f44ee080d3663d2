extension HostileCase {
    /// Allowed by HTTP, and still a trap.
    static let honestButOdd: [HostileCase] = [
        HostileCase("plain", .honest, "An honest origin with ranges and strong validators.", due: .rightBytes) {
            .answer($0.honest())
        }.promising(.requests(atMost: 6), .resumed(wasting: 0)),
        HostileCase("no-validators", .honest, "Neither ETag nor Last-Modified.", due: .rightBytes) { visit in
            .answer(
                visit.honest().with {
                    $0.set("ETag", nil)
                    $0.set("Last-Modified", nil)
                })
        },
    ]
}
