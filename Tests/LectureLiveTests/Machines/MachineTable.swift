import Testing

/// A table of what a machine does in each situation with each event, written as text:
///
///     situation | event | effects | state after
///
/// What is not in the table has no effect and changes nothing: this is checked as well.
struct MachineTable: Sendable {
    /// What is expected, by situation and event.
    private(set) var rows: [String: String] = [:]

    /// Reads a table.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let cells = line.split(separator: "|").map { String($0.trimmingSpaces) }
            precondition(cells.count == 4 && rows["\(cells[0]) | \(cells[1])"] == nil, "\(line)")
            rows["\(cells[0]) | \(cells[1])"] = "\(cells[2]) | \(cells[3])"
        }
    }

    /// Compares what happens in every situation with the table.
    ///
    /// - Parameters:
    ///   - situations: by name.
    ///   - events: by name.
    ///   - step: what an event does: the effects and the state after, as text; nil when it does nothing at all.
    ///   - sourceLocation: of the test.
    func check<Machine, Event>(
        _ situations: [(String, Machine)], _ events: [(String, Event)], _ step: (Machine, Event) -> (String, String)?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var unseen = Set(rows.keys)
        var wrong: [String] = []
        for (situation, machine) in situations {
            for (name, event) in events {
                let key = "\(situation) | \(name)"
                let found = step(machine, event).map { "\($0.0.isEmpty ? "-" : $0.0) | \($0.1)" }
                unseen.remove(key)
                if found != rows[key] { wrong.append("\(key) | \(found ?? "NOTHING")") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))", sourceLocation: sourceLocation)
        #expect(unseen.isEmpty, sourceLocation: sourceLocation)
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
