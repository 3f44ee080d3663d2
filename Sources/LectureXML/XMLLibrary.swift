import CXML2
import Glibc
import LectureFormats

/// libxml2, opened with the first document.
///
/// Few commands read a manifest, and the library brings ICU, which is larger than everything else together: linked, it
/// would take part of the time in which each process starts.
@safe struct XMLLibrary: Sendable {
    let initialize: cxml2_xmlInitParser
    let errorHandler: cxml2___xmlStructuredError
    let open: cxml2_xmlReaderForMemory
    let free: cxml2_xmlFreeTextReader
    let read: cxml2_xmlTextReaderRead
    let cursor: XMLCursorFunctions

    /// The name that every libxml2 from 2.0 to 2.13 has; later versions have another interface and another number.
    static let name = "libxml2.so.2"
    /// The package of Debian that has it.
    static let debianPackage = "libxml2"

    /// The library of this process. It stays open: its functions may be in use.
    static let shared = Result { () throws(XMLError) in try XMLLibrary(name) }

    /// Opens a library.
    ///
    /// - Parameter name: as `dlopen` takes it.
    /// - Throws: `XMLError(.libraryMissing)`, which names the package to install.
    init(_ name: String) throws(XMLError) {
        guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { throw Self.failure }
        let functions = unsafe Functions(handle)
        initialize = try functions.find("xmlInitParser", cxml2_xmlInitParser.self)
        unsafe errorHandler = try unsafe functions.find("__xmlStructuredError", cxml2___xmlStructuredError.self)
        unsafe open = try unsafe functions.find("xmlReaderForMemory", cxml2_xmlReaderForMemory.self)
        unsafe free = try unsafe functions.find("xmlFreeTextReader", cxml2_xmlFreeTextReader.self)
        unsafe read = try unsafe functions.find("xmlTextReaderRead", cxml2_xmlTextReaderRead.self)
        cursor = try XMLCursorFunctions(functions)
        // Once, before any thread parses; ``shared`` is created once.
        initialize()
    }

    /// The loader's message about its last failure; it names the file.
    private static var failure: XMLError {
        let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "it cannot be loaded"
        return XMLError(
            .libraryMissing,
            "libxml2, which reads manifests, cannot be used; install the Debian package \(debianPackage): \(reason)"
        )
    }

    /// The functions of an open library, by name.
    @safe struct Functions {
        private let handle: UnsafeMutableRawPointer

        init(_ handle: UnsafeMutableRawPointer) { unsafe self.handle = unsafe handle }

        /// Looks a function up.
        ///
        /// - Parameters:
        ///   - name: its name.
        ///   - type: its type, which the shim declares.
        /// - Returns: the function, as long as the process runs.
        /// - Throws: `XMLError(.libraryMissing)`.
        func find<Function>(_ name: String, _ type: Function.Type) throws(XMLError) -> Function {
            guard let symbol = unsafe dlsym(handle, name) else { throw XMLLibrary.failure }
            // Sound: a function pointer has the size of any pointer, and a test compares the shim with the headers.
            return unsafe unsafeBitCast(symbol, to: type)
        }
    }
}

/// The functions that look at the node at which a reader is.
@safe struct XMLCursorFunctions: Sendable {
    let nodeType: cxml2_xmlTextReaderNodeType
    let isEmptyElement: cxml2_xmlTextReaderIsEmptyElement
    let isNamespaceDeclaration: cxml2_xmlTextReaderIsNamespaceDecl
    let nextAttribute: cxml2_xmlTextReaderMoveToNextAttribute
    let moveToElement: cxml2_xmlTextReaderMoveToElement
    let lineNumber: cxml2_xmlTextReaderGetParserLineNumber
    let localName: cxml2_xmlTextReaderConstLocalName
    let namespaceURI: cxml2_xmlTextReaderConstNamespaceUri
    let value: cxml2_xmlTextReaderConstValue

    init(_ library: XMLLibrary.Functions) throws(XMLError) {
        unsafe nodeType = try unsafe library.find("xmlTextReaderNodeType", cxml2_xmlTextReaderNodeType.self)
        unsafe isEmptyElement = try unsafe library.find(
            "xmlTextReaderIsEmptyElement", cxml2_xmlTextReaderIsEmptyElement.self)
        unsafe isNamespaceDeclaration = try unsafe library.find(
            "xmlTextReaderIsNamespaceDecl", cxml2_xmlTextReaderIsNamespaceDecl.self)
        unsafe nextAttribute = try unsafe library.find(
            "xmlTextReaderMoveToNextAttribute", cxml2_xmlTextReaderMoveToNextAttribute.self)
        unsafe moveToElement = try unsafe library.find(
            "xmlTextReaderMoveToElement", cxml2_xmlTextReaderMoveToElement.self)
        unsafe lineNumber = try unsafe library.find(
            "xmlTextReaderGetParserLineNumber", cxml2_xmlTextReaderGetParserLineNumber.self)
        unsafe localName = try unsafe library.find(
            "xmlTextReaderConstLocalName", cxml2_xmlTextReaderConstLocalName.self)
        unsafe namespaceURI = try unsafe library.find(
            "xmlTextReaderConstNamespaceUri", cxml2_xmlTextReaderConstNamespaceUri.self)
        unsafe value = try unsafe library.find("xmlTextReaderConstValue", cxml2_xmlTextReaderConstValue.self)
    }
}
