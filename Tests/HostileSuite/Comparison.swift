/// Several clients meet many cases; a table shows the verdicts.
package struct Comparison: Sendable {
    /// A column: a client with or without a digest.
    package struct Column: Sendable {
        /// The client.
        package let client: Client
        /// Whether it gets the digest.
        package let knowsDigest: Bool

        /// The head of the column.
        package var name: String {
            client.takesDigest ? "\(client.name), \(knowsDigest ? "" : "no ")digest" : client.name
        }
    }

    /// What one client did in one case.
    package struct Cell: Sendable {
        /// How it did.
        package let verdict: Verdict
        /// Whether that is what is due.
        package let isDue: Bool
        /// The promises it broke, as sentences.
        package let breaches: [String]
    }

    /// The cases, in their order.
    package let cases: [HostileCase]
    /// The columns, in their order.
    package let columns: [Column]
    /// For each case, a cell for each column.
    package private(set) var rows: [[Cell?]]

    /// Plans a comparison.
    ///
    /// - Parameters:
    ///   - cases: the cases.
    ///   - clients: each gets a column, and two when it takes a digest.
    package init(_ cases: [HostileCase], _ clients: [Client]) {
        self.cases = cases
        columns = clients.flatMap { client in
            (client.takesDigest ? [true, false] : [false]).map { Column(client: client, knowsDigest: $0) }
        }
        rows = cases.map { [columns] _ in columns.map { _ in nil } }
    }

    /// Runs all meetings.
    ///
    /// - Parameters:
    ///   - jobs: meetings at once.
    ///   - report: called after every meeting with a line about it.
    /// - Throws: when a program cannot be started.
    package mutating func run(jobs: Int, report: @escaping @Sendable (String) -> Void) async throws {
        let turnstile = Turnstile(jobs)
        let (cases, columns) = (cases, columns)
        try await withThrowingTaskGroup(of: (Int, Int, Cell).self) { group in
            for (row, hostileCase) in cases.enumerated() {
                for (number, column) in columns.enumerated() {
                    group.addTask {
                        let meeting = Meeting(hostileCase, column.client, knowsDigest: column.knowsDigest)
                        let evidence = try await turnstile.pass { try await meeting.hold() }
                        let cell = Cell(
                            verdict: evidence.verdict, isDue: meeting.due.accepts(evidence.verdict),
                            breaches: meeting.brokenPromises(evidence))
                        report(
                            "\(hostileCase.name): \(column.name): \(evidence.verdict.rawValue)"
                                + cell.breaches.map { "; \($0)" }.joined())
                        return (row, number, cell)
                    }
                }
            }
            for try await (row, number, cell) in group { rows[row][number] = cell }
        }
    }

    /// The table in Markdown, family by family, with sums at the end.
    package var markdown: String {
        var lines: [String] = []
        for family in HostileCase.Family.allCases {
            let numbers = cases.indices.filter { cases[$0].family == family }
            if numbers.isEmpty { continue }
            lines += ["", "### \(family.rawValue.prefix(1).uppercased() + family.rawValue.dropFirst())", ""]
            lines += head(["case", "what the server does", "due"])
            for number in numbers { lines.append(line(cases[number], rows[number])) }
        }
        return lines.dropFirst().joined(separator: "\n") + "\n"
    }

    /// How often each client did what, as a table in Markdown.
    package var sums: String {
        var lines = head(["of \(cases.count) cases"])
        for verdict in Verdict.allCases {
            lines.append(
                sumLine(verdict.rawValue) { $0.verdict == verdict })
        }
        lines.append(sumLine("**not what is due**") { !$0.isDue })
        lines.append(sumLine("**a promise broken**") { !$0.breaches.isEmpty })
        return lines.joined(separator: "\n") + "\n"
    }

    /// Whether a client did what is due in every case, promises included.
    ///
    /// - Parameter name: of the client.
    /// - Returns: true also when it took no part.
    package func isKept(by name: String) -> Bool {
        columns.indices.filter { columns[$0].client.name == name }.allSatisfy { column in
            rows.allSatisfy { $0[column].map { $0.isDue && $0.breaches.isEmpty } ?? true }
        }
    }

    private func head(_ first: [String]) -> [String] {
        let names = first + columns.map(\.name)
        return ["| " + names.joined(separator: " | ") + " |", "|" + names.map { _ in " --- |" }.joined()]
    }

    private func line(_ hostileCase: HostileCase, _ cells: [Cell?]) -> String {
        let blind = hostileCase.dueBlind == hostileCase.due ? "" : "; no digest: \(hostileCase.dueBlind.rawValue)"
        var words = ["`\(hostileCase.name)`", hostileCase.summary, hostileCase.due.rawValue + blind]
        words += cells.map { cell in
            guard let cell else { return "" }
            let verdict = cell.isDue ? cell.verdict.rawValue : "**\(cell.verdict.rawValue)**"
            return verdict + (cell.breaches.isEmpty ? "" : " ✗")
        }
        return "| " + words.joined(separator: " | ") + " |"
    }

    private func sumLine(_ name: String, _ isCounted: (Cell) -> Bool) -> String {
        let sums = columns.indices.map { column in rows.count { $0[column].map(isCounted) ?? false } }
        return "| " + ([name] + sums.map(String.init)).joined(separator: " | ") + " |"
    }
}
