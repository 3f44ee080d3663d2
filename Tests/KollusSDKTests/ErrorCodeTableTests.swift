import Foundation
import KollusSDK
import Testing

/// The vendor's codes with the vendor's names: tables B.1 and B.2 of the fact sheet, a second copy.
struct ErrorCodeTableTests {
    private static let table = """
        -8600 ERROR_CREATE_DIRECTORY
        -8601 ERROR_CREATE_FILE
        -8602 ERROR_SAVE_DATA
        -8603 ERROR_OPEN_DB
        -8604 ERROR_CREATE_TABLE
        -8605 ERROR_SELECT_TABLE
        -8606 ERROR_DELETE_RECORD
        -8607 ERROR_INSERT_RECORD
        -8608 ERROR_OPEN_FILE
        -8609 ERROR_OUT_OF_MEMORY
        -8610 ERROR_READ_FILE
        -8611 ERROR_WRITE_FILE
        -8612 ERROR_ABNORMAL_GATEWAY_INFO
        -8613 ERROR_PARAM_VALUE
        -8614 ERROR_NOT_LOAD
        -8615 ERROR_CANCEL_DOWNLOAD
        -8616 ERROR_NETWORK
        -8617 ERROR_GET_CONTENTS_LENGTH
        -8618 ERROR_GET_ENCODE_LEVEL
        -8619 ERROR_GET_MEDIA_URL
        -8620 ERROR_NOT_FOUND_DATA
        -8621 ERROR_NOT_FOUND_ID
        -8622 ERROR_DECODE_HEADER
        -8623 ERROR_STORAGE_FULL
        -8624 ERROR_UPDATE_RECORD
        -8625 ERROR_REMOVE_CACHE
        -8626 ERROR_NOT_FOUND_SNAPSHOT_FILENAME
        -8627 ERROR_NOT_FOUND_THUMBNAIL_FILENAME
        -8628 ERROR_NOT_FOUND_RECORD
        -8629 ERROR_NOT_DOWNLOAD_COMPLETE_ALL
        -8630 ERROR_NOT_DOWNLOAD_TYPE
        -8631 ERROR_ALREADY_DOWNLOADING
        -8632 ERROR_DECRYPT_CONTENT_INFO_LINK
        -8633 ERROR_PARSE_CONTENT_INFO_LINK
        -8634 ERROR_DECRYPT_COMPANY_AUTH_INFO
        -8635 ERROR_PARSE_COMPANY_AUTH_INFO
        -8636 ERROR_NOT_VAILD_COMPANY_AUTH_INFO
        -8637 ERROR_NO_USE_CONTENT_URL
        -8638 ERROR_NOT_EXIST_DOWNLOADED_CONTENTS
        -8639 ERROR_NOT_VAILD_DEVICE_TYPE
        -8640 ERROR_NOT_VAILD_DEVICE_LEVEL
        -8641 ERROR_DOWNLOADED_EXTRA_BLOCK
        -8642 ERROR_INIT_NETWORK_LIBRARY
        -8643 ERROR_EXPIRATION_DATE
        -8644 ERROR_EXPIRATION_COUNT
        -8645 ERROR_REQUEST_CONTENT_URL
        -8646 ERROR_NOT_VAILD_CONTENTS_INFO
        -8647 ERROR_CREATE_NO_MEDIA_FILE
        -8648 ERROR_NOT_REMOVE_TYPE
        -8649 ERROR_DECRYPT
        -8650 ERROR_NOT_ALLOW_DOWNLOAD
        -8651 ERROR_EMPTY_COMPANY_AUTH_INFO
        -8652 ERROR_EMPTY_CONTENT_INFO
        -8653 ERROR_NOT_FOUND_DOMAIN
        -8654 ERROR_NOT_RECEIVE_DOMAIN
        -8655 ERROR_ABNORMAL_DRM_INFO
        -8656 ERROR_ABNORMAL_DRM_COMPLETE
        -8657 ERROR_ABNORMAL_DRM_PLAY
        -8658 ERROR_FORCE_EXPIRED
        -8659 ERROR_NOT_RECEIVE_ENC_DATA
        -8660 ERROR_NOT_FOUND_MOBILE_LOGO_FILENAME
        -8661 ERROR_CANNOT_CALL_API
        -8662 ERROR_NOT_FOUND_THUMBNAIL_URL
        -8663 ERROR_ALTER_TABLE
        -8664 ERROR_DIFFERENT_TIME
        -8668 ERROR_GET_MEDIA_ID
        -8669 ERROR_NOT_FOUND_SUBTITLE_FILENAME
        -8673 ERROR_ABNORMAL_PLAY_CALLBACK_INFO
        -8674 ERROR_PLAY_CALLBACK_EXPIRED
        -8675 ERROR_ABNORMAL_PLAY_CALLBACK_INFO_PLAY
        -8679 ERROR_ENCRYPT_KEY
        -8680 ERROR_FORCE_DELETE
        -8681 ERROR_DIFFERENT_EXPIRE_RESET
        -8682 ERROR_NOT_FOUND_DRM_KIND
        -8683 ERROR_EXPIRATION_PLAY_TIME
        -8686 ERROR_PLAY_CALLBACK_EXPIRATION_PLAY_TIME
        -8687 ERROR_CHECK_EXPIRATION_DATE
        -8800 NOT_FOUND_COMMON_INFO
        -8801 NOT_FOUND_ITEM_IN_PLAYLIST
        -8802 EMPTY_PLAYLIST_INFO
        -8803 INTRO_CANNOT_DOWNLOAD
        -8804 DUPLICATION_NETWORK_ERR
        -8900 VIDEO_GATEWAY_ABNORMAL_RESPONSE
        -9000 ERROR_ALREADY_DOWNLOADED
        -2100 DISABLED_BOOKMARK_CONTENT
        -2101 CONTENT_NOT_PREPARED
        -2102 COULD_NOT_SCROLL_MODE
        -2103 INCORRECT_BUNDLE_ID
        -2104 EXPIRED_AUTH_DATE
        -2105 INCORRECT_AUTH_DATE
        -2106 INCORRECT_AUTH_KEY
        -2107 NOT_ENOUGH_AUTH_INFO
        -2108 KOLLUS_STORAGE_IS_EMPTY
        -2109 CONTENT_URL_IS_EMPTY
        -2110 CONTENT_IS_MIRRORING
        -2111 DISCONNECT_PLAY_SESSION
        """

    /// These have a number in the tables, and no name.
    private static let unnamed = [-8665, -8666, -8667, -8670, -8671, -8672, -8676, -8677, -8678]

    private static var rows: [(number: Int, name: String)] {
        table.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return Int(words[0]).map { ($0, String(words[1])) }
        }
    }

    @Test
    func `every number has the vendor's name`() {
        #expect(Self.rows.count == 96)
        for (number, name) in Self.rows {
            let code = KollusError.Code(rawValue: number)
            #expect(code.map { "\($0)" } == name, "\(number)")
        }
        for number in Self.unnamed { #expect(KollusError.Code(rawValue: number) != nil, "\(number)") }
    }

    @Test
    func `there is no number that is in no table`() {
        let known = Set(Self.rows.map(\.number) + Self.unnamed)
        #expect(Set(KollusError.Code.allCases.map(\.rawValue)).subtracting(known) == [])
    }

    @Test(arguments: KollusError.Code.allCases)
    func `every number has a message for an application's user`(code: KollusError.Code) {
        let sentence = code.sentence
        #expect(sentence.hasSuffix("."))
        #expect(sentence.first?.isUppercase == true)
        #expect(!sentence.contains("lecturectl"))
        #expect(KollusError(code).localizedDescription == sentence)
    }
}
