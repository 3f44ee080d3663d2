/// The style and the script of the page.
enum PageFiles {
    /// Takes the events of the server, updates bars, and loads changed parts of the page again.
    static let script = String(decoding: PackageResources.page_js, as: UTF8.self)

    /// Colours and sizes, light and dark.
    static let style = String(decoding: PackageResources.style_css, as: UTF8.self)
}
