// The catalogue's codes for bundles. Numbers and names are frozen.

extension LectureError.Code {
    /// A file that is not a bundle, or one that no version of this program writes.
    public static let bundleRefused = Self(
        -20310, "bundle_refused", "this is not a bundle that can be read",
        "Get the file again from its maker, or make the bundle again ('lecturectl bundle create').",
        reason: "It is another kind of file, it was cut off, or something was added to it or changed in it.")
    /// A chunk whose digest does not match.
    public static let bundleDamaged = Self(
        -20311, "bundle_damaged", "a part of the bundle is damaged",
        "Copy the bundle again, then run the command again: what is imported already stays.",
        reason: "The bytes are not those that were signed; the disk or the copy is damaged.")
    /// A signature that is wrong.
    public static let bundleSignature = Self(
        -20312, "bundle_signature", "the signature of the bundle is wrong",
        "Do not use the bundle. Get it again from its maker.",
        reason: "The list of its contents was changed after it was signed.")
    /// A signer that is not trusted.
    public static let bundleUntrusted = Self(
        -20313, "bundle_untrusted", "the bundle is signed with a key that is not trusted",
        "If the key is that of the person or the device that the bundle is from, run the command again with '--trust' "
            + "and the file of that public key.",
        reason: "A bundle is used only if its signer's key was named as trusted, or it was made by this device.")
    /// A bundle without a target.
    public static let bundleRecipient = Self(
        -20314, "bundle_recipient", "it is not known for which devices the bundle is",
        "Name the public key of each device with '--for FILE'; 'lecturectl device show' prints it there.",
        reason: "The lectures in a bundle are sealed, and only the devices that were named can open them.")
    /// A bundle for other devices.
    public static let bundleNotForDevice = Self(
        -20315, "bundle_not_for_device", "the bundle is not for this device",
        "Send the public key of this device ('lecturectl device show') to the maker of the bundle.",
        reason: "Its key was encrypted for other devices, and only they can open the lectures in it.")
    /// A lecture that cannot be in a bundle.
    public static let bundleUnsuitable = Self(
        -20316, "bundle_unsuitable", "the lecture cannot be in a bundle",
        "Leave it out, and download it on the other device with 'lecturectl precache'.",
        reason: "Adaptive lectures, and lectures of unknown source, cannot be carried in a bundle.")
    /// A bundle of a newer version.
    public static let bundleNewer = Self(
        -20317, "bundle_newer", "the bundle was made by a newer version of LectureKit", "Update this program.",
        reason: "The version of its manifest is higher than this program knows.")
    /// All of the above.
    static let bundles: [Self] = [
        .bundleRefused, .bundleDamaged, .bundleSignature, .bundleUntrusted, .bundleRecipient, .bundleNotForDevice,
        .bundleUnsuitable, .bundleNewer,
    ]
}
