package import LectureFormats
package import LectureModel

/// What the payload of a callback's token says: the only reader of `data`, for the engine and for `licence verify`.
///
/// An element answers for the lecture it names and for its kind. Two elements for the same are no answer at all, since
/// nothing says which one counts. An element that names no lecture answers for none, unless it is the only one for the
/// only lecture that was asked for.
package struct CallbackAnswers: Sendable {
    private struct Element: Sendable {
        /// By bytes: `String` treats two normalisations as equal.
        let name: [UInt8]?
        /// Nil for an unreadable element whose kind is unreadable as well: it may answer any.
        let kind: CallbackAnswer.Kind?
        let answer: Result<CallbackAnswer, LectureError>
    }

    private let elements: [Element]

    /// Reads the elements. `data` may be one object instead of an array, as some servers send it.
    ///
    /// - Parameter payload: the payload of the token.
    /// - Throws: ``LectureError`` with ``LectureError/Code/answerUnreadable`` when `data` is neither.
    package init(_ payload: JSONValue) throws(LectureError) {
        guard let data = payload["data"], data.elements != nil || data.members != nil else {
            throw LectureError(.answerUnreadable, cause: "member 'data' is missing or not an array")
        }
        elements = (data.elements ?? [data]).map(Self.element)
    }

    private static func element(_ value: JSONValue) -> Element {
        let name = value["media_content_key"]?.string.map { Array($0.utf8) }
        do throws(LectureError) {
            let answer = try CallbackAnswer(value)
            return Element(name: name, kind: answer.kind, answer: .success(answer))
        } catch {
            let number = value["kind"]?.integer.flatMap { Int(exactly: $0) }
            return Element(
                name: name, kind: number.flatMap(CallbackAnswer.Kind.init),
                answer: .failure(LectureError(.answerInvalid, cause: error.detail)))
        }
    }

    /// The answers to a request.
    ///
    /// - Parameters:
    ///   - keys: the keys of the requested lectures.
    ///   - kind: the kind of the request.
    /// - Returns: one for each key.
    package func answers(for keys: [String], _ kind: CallbackAnswer.Kind) -> [CallbackItemAnswer] {
        var found: [[UInt8]: CallbackItemAnswer] = [:]
        for element in elements where element.kind == nil || element.kind == kind {
            let isOnly = keys.count == 1 && elements.count == 1
            guard let name = element.name ?? (isOnly ? Array(keys[0].utf8) : nil) else { continue }
            let known = found.updateValue(Self.item(element), forKey: name)
            if known != nil { found[name] = .unreadable(Self.ambiguity) }
        }
        return keys.map { found[Array($0.utf8)] ?? .missing }
    }

    /// Every answer about a lecture, whatever its kind, as of a token without a request.
    ///
    /// - Parameter key: the lecture; nil for all.
    /// - Returns: the answers in their order, and an unreadable one for each that is ambiguous.
    package func answers(about key: String?) -> [CallbackItemAnswer] {
        var items: [CallbackItemAnswer] = []
        var seen: [[UInt8]: Set<CallbackAnswer.Kind>] = [:]
        for element in elements where key.map({ element.name == Array($0.utf8) }) ?? true {
            items.append(Self.item(element))
            guard let name = element.name, let kind = element.kind else { continue }
            if !seen[name, default: []].insert(kind).inserted { items.append(.unreadable(Self.ambiguity)) }
        }
        return items
    }

    private static func item(_ element: Element) -> CallbackItemAnswer {
        switch element.answer {
        case .success(let answer): .answer(answer)
        case .failure(let error): .unreadable(error)
        }
    }

    private static let ambiguity = LectureError(.answerInvalid, cause: "two answers for one lecture")
}
