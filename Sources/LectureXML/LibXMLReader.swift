import CXML2
package import LectureFormats
import LectureModel

/// Reads XML with libxml2's streaming reader.
///
/// No document type is read, no entity expanded, no file or address opened. Any thread may read at any time.
package struct LibXMLReader: XMLReading {
    /// Nil takes the library of this process, which is opened with the first document: with it come 30 MB of Unicode.
    private let library: Result<XMLLibrary, XMLError>?

    /// Creates a reader; the library is opened with the first document.
    package init() { library = nil }

    init(_ library: Result<XMLLibrary, XMLError>) { self.library = library }

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: the whole document, UTF-8 or UTF-16.
    ///   - limits: how much it may be.
    /// - Returns: its outermost element.
    /// - Throws: `XMLError`.
    package func element(of bytes: [UInt8], limits: XMLLimits = XMLLimits()) throws(XMLError) -> XMLElement {
        let library = try (library ?? XMLLibrary.shared).get()
        let text = try XMLText(bytes, limits)
        return try library.silently { () throws(XMLError) in
            var tree = XMLTree(limits)
            try XMLPull(library, text.bytes).run(into: &tree)
            return try tree.finish()
        }
    }
}

extension XMLLibrary {
    /// Runs with a handler of errors that prints nothing; an error is seen in the result of a call.
    ///
    /// The handler belongs to the thread, also when the application uses libxml2 itself: what it was is put back.
    fileprivate func silently<Value>(_ body: () throws(XMLError) -> Value) throws(XMLError) -> Value {
        guard let place = unsafe errorHandler() else { return try body() }
        let former = unsafe place.pointee
        unsafe place.pointee = ignoreError
        defer { unsafe place.pointee = former }
        return try body()
    }
}

private func ignoreError(_ context: UnsafeMutableRawPointer?, _ error: OpaquePointer?) {}

/// One document in libxml2's reader.
@safe private struct XMLPull {
    // Of libxml2's xmlParserOption: XML_PARSE_NOERROR, _NOWARNING, _NONET, _IGNORE_ENC. Without _NOENT, _DTDLOAD,
    // _DTDATTR, _XINCLUDE and _HUGE.
    private static let options: Int32 = 1 << 5 | 1 << 6 | 1 << 11 | 1 << 21

    private let library: XMLLibrary
    private let bytes: [UInt8]

    init(_ library: XMLLibrary, _ bytes: [UInt8]) {
        self.library = library
        self.bytes = bytes
    }

    func run(into tree: inout XMLTree) throws(XMLError) {
        guard let count = Int32(exactly: bytes.count) else { throw XMLError(.limit, "it is above 2 GiB") }
        // `withUnsafeBytes` has no typed throws for a failing body with an inout capture: the result carries the error.
        let result: Result<XMLTree, XMLError> = unsafe bytes.withUnsafeBytes { buffer in
            var grown = tree
            // Sound: the reader is freed before the buffer ends, and nothing it returns is kept.
            guard
                let reader = unsafe library.open(
                    buffer.baseAddress?.assumingMemoryBound(to: CChar.self), count, nil, "UTF-8", Self.options)
            else { return .failure(XMLError(.malformed, "libxml2 has no memory for it")) }
            defer { unsafe library.free(reader) }
            return Result { () throws(XMLError) in
                while true {
                    let status = unsafe library.read(reader)
                    if status == 0 { return grown }
                    guard status > 0 else {
                        let line = unsafe library.cursor.lineNumber(reader)
                        throw XMLError(.malformed, "it is no well-formed XML (line \(line))")
                    }
                    try unsafe visit(reader, &grown)
                }
            }
        }
        tree = try result.get()
    }

    /// Takes the node at which the reader is; numbers as in libxml2's xmlReaderTypes.
    private func visit(_ reader: OpaquePointer, _ tree: inout XMLTree) throws(XMLError) {
        let cursor = library.cursor
        switch unsafe cursor.nodeType(reader) {
        case 1:
            let name = unsafe try localName(reader)
            let namespace = unsafe text(cursor.namespaceURI(reader))
            let isEmpty = unsafe cursor.isEmptyElement(reader) == 1
            try tree.open(name, namespace, unsafe try attributes(reader))
            if isEmpty { try tree.close() }
        case 3, 4, 13, 14: tree.append(unsafe text(cursor.value(reader)))
        case 15: try tree.close()
        case 7, 8: break
        case 10: throw XMLError(.documentType, "it has a document type declaration")
        default: throw XMLError(.malformed, "it has a node of another kind than elements and text")
        }
    }

    /// The name without its prefix. libxml2 accepts a prefix that is not declared, and leaves it in the name.
    private func localName(_ reader: OpaquePointer) throws(XMLError) -> String {
        let name = unsafe text(library.cursor.localName(reader))
        if name.utf8.contains(UInt8(ascii: ":")) { throw XMLError(.malformed, "a prefix of a name is not declared") }
        return name
    }

    private func attributes(_ reader: OpaquePointer) throws(XMLError) -> [XMLElement.Attribute] {
        let cursor = library.cursor
        var found: [XMLElement.Attribute] = []
        while unsafe cursor.nextAttribute(reader) == 1 {
            if unsafe cursor.isNamespaceDeclaration(reader) == 1 { continue }
            found.append(
                XMLElement.Attribute(
                    unsafe try localName(reader), unsafe text(cursor.value(reader)),
                    namespace: unsafe text(cursor.namespaceURI(reader))))
        }
        if !found.isEmpty { _ = unsafe cursor.moveToElement(reader) }
        return found
    }

    private func text(_ pointer: UnsafePointer<UInt8>?) -> String {
        unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }
}

/// The tree as it grows: the elements that are open, outermost first.
private struct XMLTree {
    private struct Open {
        let name: String
        let namespace: String
        let attributes: [XMLElement.Attribute]
        var children: [XMLElement] = []
        var text = ""
    }

    private let limits: XMLLimits
    private var open: [Open] = []
    private var root: XMLElement?

    init(_ limits: XMLLimits) { self.limits = limits }

    mutating func open(
        _ name: String, _ namespace: String, _ attributes: [XMLElement.Attribute]
    ) throws(XMLError) {
        // Counted before by the survey of the text; this is the bound on what is built.
        if open.count >= limits.depth { throw XMLError(.limit, "it is nested deeper than \(limits.depth) elements") }
        open.append(Open(name: name, namespace: namespace, attributes: attributes))
    }

    mutating func append(_ text: String) {
        if !open.isEmpty { open[open.count - 1].text += text }
    }

    mutating func close() throws(XMLError) {
        guard let last = open.popLast() else { throw XMLError(.malformed, "it has an end tag without a start tag") }
        let element = XMLElement(
            last.name, namespace: last.namespace, attributes: last.attributes, children: last.children, text: last.text)
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    func finish() throws(XMLError) -> XMLElement {
        guard let root else { throw XMLError(.malformed, "it has no element") }
        return root
    }
}
