extension PageText {
    /// What the classroom and the calendar of licences say, in English, Korean and Japanese.
    static let classroomTexts: [PageText: [String]] = [
        .classroomList: ["Classroom", "강의실", "教室"],
        .classroomEmpty: [
            "There is no lecture that can be played.",
            "재생할 수 있는 강의가 없습니다.",
            "再生できる講義はありません。",
        ],
        .play: ["Play", "재생", "再生"],
        .playFrom: ["Play from {0}", "{0}부터 재생", "{0}から再生"],
        .fromStart: ["From the beginning", "처음부터", "最初から"],
        .chapters: ["Chapters", "챕터", "チャプター"],
        .bookmarks: ["Bookmarks", "북마크", "ブックマーク"],
        .notPossible: ["Not possible", "처리할 수 없음", "実行できません"],
        .withCode: ["{0} (code {1})", "{0} (코드 {1})", "{0} (コード {1})"],
        .backToLecture: ["Back to the lecture", "강의로 돌아가기", "講義へ戻る"],
        .refusedLecture: [
            "The store has no lecture with this key.",
            "저장소에 이 키의 강의가 없습니다.",
            "ストアにこのキーの講義はありません。",
        ],
        .refusedPlay: [
            "The play is over. Load the page again to play on.",
            "재생이 끝났습니다. 계속 재생하려면 페이지를 다시 불러오세요.",
            "再生は終了しました。続けて再生するには、ページを再読み込みしてください。",
        ],
        .refusedPlays: [
            "Too many lectures are being played at once. Try again later.",
            "동시에 재생 중인 강의가 너무 많습니다. 나중에 다시 시도하세요.",
            "同時に再生されている講義が多すぎます。しばらくしてから再試行してください。",
        ],
        .refusedReads: [
            "The player reads this play too often at once.",
            "플레이어가 이 재생을 동시에 너무 많이 읽고 있습니다.",
            "プレーヤーがこの再生を同時に読み取りすぎています。",
        ],
        .refusedRange: [
            "The range begins after the last byte.",
            "범위가 마지막 바이트 뒤에서 시작합니다.",
            "範囲が最後のバイトより後から始まっています。",
        ],
        .refusedProgress: [
            "What was reported as watched cannot have been watched.",
            "시청했다고 보고된 구간은 시청할 수 없는 구간입니다.",
            "視聴したと報告された区間は、視聴できない区間です。",
        ],
        .subtitlesEncoding: [
            "These subtitles cannot be shown: they are not in UTF-8, UTF-16 or CP949.",
            "이 자막은 표시할 수 없습니다. UTF-8, UTF-16 또는 CP949가 아닙니다.",
            "この字幕は表示できません。UTF-8、UTF-16、CP949のいずれでもありません。",
        ],
        .subtitlesForm: [
            "These subtitles cannot be shown: they have no text in WebVTT, SubRip or SAMI.",
            "이 자막은 표시할 수 없습니다. WebVTT, SubRip, SAMI 형식의 내용이 없습니다.",
            "この字幕は表示できません。WebVTT、SubRip、SAMI形式の内容がありません。",
        ],
        .subtitlesLong: [
            "These subtitles cannot be shown: they are too long.",
            "이 자막은 너무 길어서 표시할 수 없습니다.",
            "この字幕は長すぎるため表示できません。",
        ],
        .refusedLink: [
            "The link is not valid, or has expired.",
            "링크가 유효하지 않거나 만료되었습니다.",
            "リンクが無効か、期限が切れています。",
        ],
        .day: ["Day", "날짜", "日付"],
        .oneLicence: ["1 licence", "라이선스 1개", "1件のライセンス"],
        .licencesCount: ["{0} licences", "라이선스 {0}개", "{0}件のライセンス"],
        .overdue: ["Ended, or to be checked", "만료되었거나 확인이 필요함", "期限切れ、または確認が必要"],
        .backToCalendar: ["Back to the calendar", "달력으로 돌아가기", "カレンダーへ戻る"],
        .resultNoneToRenew: [
            "No licence ends on this day.",
            "이 날짜에 만료되는 라이선스가 없습니다.",
            "この日に期限を迎えるライセンスはありません。",
        ],
    ]
}
