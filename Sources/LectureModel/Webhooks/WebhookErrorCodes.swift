// The catalogue's codes of webhooks. Numbers and names are frozen.

extension LectureError.Code {
    /// The secret cannot be used.
    public static let webhookSecret = Self(
        -20298, "webhook_secret", "the secret of the webhook cannot be used",
        "Write 'whsec_' and 24 to 64 random bytes in Base64 into its secret_file; docs/webhooks.md has a command for "
            + "it.",
        reason: "The file is empty, or a line of it is not 'whsec_' with Base64 of 24 to 64 bytes; two lines at most.")
    /// The endpoint is gone.
    public static let webhookGone = Self(
        -20299, "webhook_gone", "the webhook was switched off by its receiver",
        "If it is there again, run 'lecturectl webhooks retry'. Otherwise take it out of 'webhooks' in the "
            + "configuration.",
        reason: "The receiver has answered 410 (Gone), which asks to send nothing more.")
    /// An event is refused for good.
    public static let webhookRefused = Self(
        -20300, "webhook_refused", "the webhook's receiver refuses an event",
        "Correct the receiver or the URL, then run 'lecturectl webhooks retry'.",
        reason: "It has answered ten times with a status that is neither a success nor asks to try again later.")
    /// There is no such endpoint.
    public static let webhookUnknown = Self(
        -20301, "webhook_unknown", "there is no such webhook",
        "'lecturectl webhooks list' shows those of the configuration.",
        reason: "The configuration in use names no webhook with this number or URL.")
    /// An endpoint was removed with its deliveries.
    public static let webhookRemoved = Self(
        -20302, "webhook_removed", "the webhook is not configured any more; what waited for it was deleted",
        "Nothing has to be done if that is what you want; else put it back into 'webhooks' of the configuration.",
        reason: "The array 'webhooks' of the configuration does not name its URL any more.")
    /// All of the above.
    static let webhooks: [Self] = [
        .webhookSecret, .webhookGone, .webhookRefused, .webhookUnknown, .webhookRemoved,
    ]
}
