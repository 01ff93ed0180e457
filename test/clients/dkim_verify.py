"""Prints pass or fail for every DKIM signature of a message, as dkimpy sees it; the keys come from a name server that is named."""
import sys
import dkim, dns.resolver

host, port = sys.argv[2].rsplit(":", 1)
names = dns.resolver.Resolver(configure=False)
names.nameservers, names.port = [host], int(port)

def lookup(name, timeout=5):
    answer = names.resolve(name.decode().rstrip("."), "TXT")
    return b"".join(answer[0].strings)

raw = open(sys.argv[1], "rb").read()
checker = dkim.DKIM(raw)
count = sum(1 for name, _ in checker.headers if name.lower() == b"dkim-signature")
print(*["pass" if checker.verify(idx=i, dnsfunc=lookup) else "fail" for i in range(count)])
