extension HostileCase {
    /// Every case, family by family.
    package static let all: [HostileCase] =
        honestButOdd + interruptions + ranges + changes + codings + lengths + statuses + redirects + impostors
        + securities + http2s + edgesOfMany
}
