/// By places: the standard library's `contains(where:)` and its like copy each element first. A file in work has some
/// twenty references to count, and every step asks every item.
extension Array {
    /// The place of the first element that fulfils a condition.
    func firstPlace(where condition: (borrowing Element) -> Bool) -> Int? { indices.first { condition(self[$0]) } }

    /// Whether any element fulfils a condition.
    func any(_ condition: (borrowing Element) -> Bool) -> Bool { firstPlace(where: condition) != nil }

    /// Whether all elements fulfil a condition.
    func all(_ condition: (borrowing Element) -> Bool) -> Bool { indices.allSatisfy { condition(self[$0]) } }

    /// The sum of a number of each element, and of one more.
    func sum<Number: AdditiveArithmetic>(from start: Number, _ number: (borrowing Element) -> Number) -> Number {
        indices.reduce(start) { $0 + number(self[$1]) }
    }
}
