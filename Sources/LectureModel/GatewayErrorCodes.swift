// The refusals of video gateways: their own numbers, frozen like all others.

extension LectureError.Code {
    /// The numbers of a gateway's refusals.
    public static let gatewayNumbers = 4001...4101

    /// A refusal by a gateway.
    ///
    /// - Parameter number: the gateway's number, one of ``gatewayNumbers``.
    /// - Returns: the code −`number`.
    public static func gateway(_ number: Int) -> Self {
        if let row = gatewayRows[number] { return Self(-number, "gateway_\(row.name)", row.summary, row.remedy) }
        return Self(-number, "gateway_\(number)", "the gateway refuses the link with its number \(number)", askProvider)
    }

    /// The gateway's numbers with a sentence of their own.
    public static let namedGatewayNumbers: [Int] = gatewayRows.keys.sorted()

    private typealias GatewayRow = (name: String, summary: String, remedy: String)

    private static let askProvider = "Ask the provider."
    private static let newLink = "Ask the provider for a new link."
    private static let stopped = "Ask the provider when it will be available again."

    private static let gatewayRows: [Int: GatewayRow] = [
        4001: ("content_key", "the gateway does not know the link's content key", newLink),
        4002: ("security_key", "the gateway does not know the provider's security key", askProvider),
        4003: ("channel_key", "the gateway does not know the link's channel", newLink),
        4004: ("user_key", "the gateway does not know the provider's user key", askProvider),
        4005: ("file_path", "the gateway cannot use the path of the file", askProvider),
        4006: ("alias", "the gateway does not know the link's name", newLink),
        4007: ("token_invalid", "the link's token is broken or forged", newLink),
        4008: ("media_token", "the link's media token is not valid", newLink),
        4011: ("no_file", "the gateway has no file for this lecture", askProvider),
        4012: ("no_content", "the gateway does not have this lecture", askProvider),
        4013: ("no_owner", "the lecture has no owner", askProvider),
        4014: ("no_distributor", "the lecture has no distributor", askProvider),
        4015: ("no_channel", "the channel does not exist", askProvider),
        4016: ("no_payment", "the provider's service is not paid for", askProvider),
        4019: ("site_setting", "the provider's site is not set up", askProvider),
        4020: ("intro_alone", "the link names an intro and no lecture", newLink),
        4021: ("file_stopped", "the file is out of service", stopped),
        4022: ("content_stopped", "the lecture is out of service", stopped),
        4023: ("owner_stopped", "the lecture's owner is out of service", stopped),
        4024: ("distributor_stopped", "the lecture's distributor is out of service", stopped),
        4025: ("channel_stopped", "the channel is out of service", stopped),
        4026: ("distribution_stopped", "the lecture is no longer distributed here", stopped),
        4031: ("referrer", "the link may not be used from here", newLink),
        4032: ("user_blocked", "the provider has blocked this user", askProvider),
        4081: ("not_public", "the lecture is not public", askProvider),
        4082: ("other_user_key", "the link was made with another user key", newLink),
        4083: ("no_content_key", "the link's token names no lecture", newLink),
        4084: ("device", "the provider does not support this device", askProvider),
        4085: ("token_expired", "the link has expired", newLink),
        4100: ("skin", "the gateway cannot use the player's skin", askProvider),
        4101: ("skin_checksum", "the player's skin does not match its checksum", askProvider),
    ]
}
