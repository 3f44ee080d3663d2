package import LectureModel

extension CommittedStep where Effect == TransferEffect {
    /// Performs the effects in their order.
    ///
    /// - Parameter transport: carries them out.
    /// - Returns: what is left: what became true, and when the next step is due at the latest.
    package func perform(on transport: any Transport) -> (notices: [Notice], next: BootInstant?) {
        for effect in effects { transport.perform(effect) }
        return (notices, next)
    }
}
