import Testing

@testable import LectureTransport

struct TokenBucketTests {
    private let start = SuspendingClock.now

    @Test
    func `reading from an empty bucket is possible at once`() {
        #expect(TokenBucket(rate: 1000, now: start).delay(now: start) == .zero)
    }

    @Test
    func `bytes are paid for afterwards`() {
        var bucket = TokenBucket(rate: 1000, now: start)
        bucket.take(500, now: start)
        #expect(bucket.delay(now: start) == .milliseconds(500))
        #expect(bucket.delay(now: start + .milliseconds(200)) == .milliseconds(300))
        #expect(bucket.delay(now: start + .milliseconds(500)) == .zero)
    }

    @Test
    func `a pause earns a tenth of a second`() {
        var bucket = TokenBucket(rate: 1000, now: start)
        let later = start + .seconds(3600)
        bucket.take(100, now: later)
        #expect(bucket.delay(now: later) == .zero)
        bucket.take(100, now: later)
        #expect(bucket.delay(now: later) == .milliseconds(100))
    }

    @Test(arguments: [1, 8], [4096, 65_536, 262_144])
    func `the bytes of a minute match the rate, whatever the read size`(connections: Int, read: Int) {
        let rate = 2_000_000
        var bucket = TokenBucket(rate: rate, now: start)
        var now = start
        var bytes = 0
        while now < start + .seconds(60) {
            bucket.take(read * connections, now: now)
            bytes += read * connections
            // The thread wakes up to a millisecond late.
            now += bucket.delay(now: now) + .milliseconds(1)
        }
        let error = Double(bytes) / Double(rate * 60) - 1
        #expect(abs(error) < 0.03)
    }

    @Test
    func `a rate of zero means one byte a second`() {
        var bucket = TokenBucket(rate: 0, now: start)
        bucket.take(3, now: start)
        #expect(bucket.delay(now: start) == .seconds(3))
    }
}
