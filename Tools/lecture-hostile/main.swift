import HostileSuite

for hostileCase in HostileCase.all { print(hostileCase.name, hostileCase.summary) }
