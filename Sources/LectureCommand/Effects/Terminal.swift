import Glibc

/// The size of a terminal in character cells.
package struct TerminalSize: Sendable, Equatable {
    /// Cells in a row.
    package let columns: Int
    /// Rows.
    package let rows: Int

    /// Makes a size.
    ///
    /// - Parameters:
    ///   - columns: cells in a row.
    ///   - rows: rows.
    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// The size assumed for a terminal that does not report one.
    package static let standard = Self(columns: 80, rows: 24)
}

/// Queries of the terminal of a descriptor.
package enum Terminal {
    /// Whether a descriptor is a terminal.
    ///
    /// - Parameter descriptor: an open descriptor.
    /// - Returns: false also for a closed one.
    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The current size of a terminal (`TIOCGWINSZ`).
    ///
    /// - Parameter descriptor: an open descriptor.
    /// - Returns: the size; ``TerminalSize/standard`` if the terminal reports 0 or nothing.
    package static func size(_ descriptor: Int32) -> TerminalSize {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return .standard
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
