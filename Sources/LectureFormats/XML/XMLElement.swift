/// An element of an XML document with everything inside it, as a value (XML 1.0, Namespaces in XML 1.0).
///
/// Names are without their prefixes, which mean nothing by themselves. Comments and processing instructions are left
/// out.
package struct XMLElement: Hashable, Sendable {
    /// An attribute. Declarations of namespaces are none.
    package struct Attribute: Hashable, Sendable {
        /// The name without its prefix.
        package let name: String
        /// The URI of its namespace; empty for an attribute without a prefix.
        package let namespace: String
        /// The value, normalised, with character references resolved.
        package let value: String

        /// Creates an attribute.
        ///
        /// - Parameters:
        ///   - name: the name without its prefix.
        ///   - value: the value.
        ///   - namespace: the URI of its namespace.
        package init(_ name: String, _ value: String, namespace: String = "") {
            self.name = name
            self.namespace = namespace
            self.value = value
        }
    }

    /// The name without its prefix.
    package let name: String
    /// The URI of its namespace; empty when there is none.
    package let namespace: String
    /// The attributes in their order.
    package let attributes: [Attribute]
    /// The elements directly inside, in their order.
    package let children: [XMLElement]
    /// The text directly inside, all its parts joined; white space is kept.
    package let text: String

    /// Creates an element.
    ///
    /// - Parameters:
    ///   - name: the name without its prefix.
    ///   - namespace: the URI of its namespace.
    ///   - attributes: the attributes in their order.
    ///   - children: the elements inside, in their order.
    ///   - text: the text directly inside.
    package init(
        _ name: String, namespace: String = "", attributes: [Attribute] = [], children: [XMLElement] = [],
        text: String = ""
    ) {
        self.name = name
        self.namespace = namespace
        self.attributes = attributes
        self.children = children
        self.text = text
    }

    /// The value of an attribute without a namespace.
    ///
    /// - Parameter name: its name.
    /// - Returns: the value, nil when there is no such attribute.
    package subscript(_ name: String) -> String? { attribute(name) }

    /// The value of an attribute.
    ///
    /// - Parameters:
    ///   - name: its name without a prefix.
    ///   - namespace: the URI of its namespace; empty for an attribute without a prefix.
    /// - Returns: the value, nil when there is no such attribute.
    package func attribute(_ name: String, namespace: String = "") -> String? {
        attributes.first { $0.name == name && $0.namespace == namespace }?.value
    }

    /// The elements directly inside that have a name and this element's namespace.
    ///
    /// - Parameter name: their name without a prefix.
    /// - Returns: the elements in their order.
    package func all(_ name: String) -> [XMLElement] {
        children.filter { $0.name == name && $0.namespace == namespace }
    }

    /// The first of ``all(_:)``.
    ///
    /// - Parameter name: its name without a prefix.
    /// - Returns: the element, nil when there is none.
    package func first(_ name: String) -> XMLElement? {
        children.first { $0.name == name && $0.namespace == namespace }
    }
}

/// How much an XML document may be.
package struct XMLLimits: Hashable, Sendable {
    /// The whole document, in bytes as received.
    package var bytes: Int
    /// How deeply elements may be nested.
    package var depth: Int
    /// How many elements there may be in all.
    package var elements: Int
    /// How many attributes a single element may have.
    package var attributes: Int
    /// The longest tag, in bytes. libxml2 compares each attribute of a tag with each other.
    package var tagBytes: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - bytes: the whole document.
    ///   - depth: how deeply elements may be nested.
    ///   - elements: how many elements there may be.
    ///   - attributes: how many attributes an element may have.
    ///   - tagBytes: the longest tag.
    package init(
        bytes: Int = 16 << 20, depth: Int = 64, elements: Int = 300_000, attributes: Int = 64, tagBytes: Int = 1 << 16
    ) {
        self.bytes = bytes
        self.depth = depth
        self.elements = elements
        self.attributes = attributes
        self.tagBytes = tagBytes
    }
}

/// Why bytes are not read as an XML document.
package struct XMLError: Error, Hashable, Sendable {
    /// What is wrong.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// The machine has no usable libxml2.
        case libraryMissing
        /// It exceeds one of ``XMLLimits``.
        case limit
        /// It has a document type declaration, so it could declare entities.
        case documentType
        /// It is neither UTF-8 nor UTF-16.
        case encoding
        /// It is no well-formed XML.
        case malformed
    }

    /// What is wrong.
    package let kind: Kind
    /// What is wrong, and where. Never a text of the document.
    package let detail: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: what is wrong.
    ///   - detail: what is wrong, and where.
    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }
}
