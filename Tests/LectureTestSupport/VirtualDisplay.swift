extension ChildProcess {
    /// Starts a virtual display. It stays when its last window closes: otherwise it would start anew, and refuse
    /// windows meanwhile.
    ///
    /// - Parameters:
    ///   - size: of its screen, such as `640x480`.
    ///   - more: further arguments of Xvfb.
    /// - Returns: the program; its first line is the display's number.
    /// - Throws: ``Failure`` when it cannot be started.
    package static func display(_ size: String, _ more: String...) throws -> ChildProcess {
        try ChildProcess(
            try Places.command("Xvfb"),
            ["-displayfd", "1", "-screen", "0", "\(size)x24", "-nolisten", "tcp", "-noreset"] + more)
    }
}
