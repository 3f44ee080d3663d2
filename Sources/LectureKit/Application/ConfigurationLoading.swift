public import LectureModel

/// Settings from `config.json`, for programs that embed the library.
extension LectureConfiguration {
    /// The configuration file that the environment names: `LECTURE_CONFIG`, else the default one if it exists.
    ///
    /// - Parameter environment: the variables.
    /// - Returns: nil when there is none.
    public static func file(in environment: [String: String]) -> String? { nil }

    /// Takes over what a configuration file says; what it does not say stays.
    ///
    /// - Parameter file: its path.
    /// - Returns: sentences about members that mean nothing to this version.
    /// - Throws: ``LectureError`` with `configuration` or `secretReadable`.
    public mutating func apply(file: String) throws(LectureError) -> [String] { throw LectureError(.bug) }
}

extension DeviceHome {
    /// What the device tells issuers, if it has a key; none is drawn.
    ///
    /// - Returns: nil without a key.
    /// - Throws: ``LectureError`` with `deviceKeyRefused` or a disk code.
    public func presentIdentity() throws(LectureError) -> DeviceIdentity? { throw LectureError(.bug) }

    /// Draws a new key for this device. The old one stays beside it under another name, so that nothing is lost for
    /// good; what it has sealed and the licences bound to it cannot be used while the new one is in place.
    ///
    /// - Returns: who the device is from now on.
    /// - Throws: ``LectureError`` with a disk code or `cryptography`.
    public func replaceKey() throws(LectureError) -> DeviceIdentity { throw LectureError(.bug) }
}
