import HostileSuite

print(Due.allCases.map(\.rawValue))
