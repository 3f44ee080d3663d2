// Every shipped migration, oldest first. Keep in step with `migrations` in Package.swift; `Tools/check-migrations`
// compares both with the directory.
