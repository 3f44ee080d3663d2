@main
enum LectureControl {
    static func main() {}
}
