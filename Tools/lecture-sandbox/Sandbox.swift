@main
enum Sandbox {
    static func main() {}
}
