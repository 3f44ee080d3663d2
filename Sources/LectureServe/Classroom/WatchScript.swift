/// The script of the watch page: opens the play without leaving the page, and reports what was watched.
enum WatchScript {
    /// JavaScript, without dependencies.
    ///
    /// Stretches are cut at jumps, pauses and changes of speed. They are sent every five seconds, at a pause, at the
    /// end and when the page is closed. A report that got no answer is sent again, under its number.
    static let text = String(decoding: PackageResources.watch_js, as: UTF8.self)
}
