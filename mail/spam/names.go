package spam

// shorteners are hosts whose links hide where they lead.
var shorteners = set("bit.ly", "tinyurl.com", "t.co", "goo.gl", "ow.ly", "is.gd", "buff.ly", "cutt.ly", "rebrand.ly", "rb.gy", "shorturl.at",
	"t.ly", "tiny.cc", "v.gd", "bl.ink", "lnkd.in", "adf.ly", "s.id", "shorte.st", "tr.im", "qr.ae", "u.to", "clck.ru", "x.gd", "n9.cl",
	"soo.gd", "surl.li", "urlz.fr", "did.li", "short.gy", "dlvr.it", "2no.co", "grabify.link")

// redirects are the redirect pages of well-known sites, by the name of the site.
var redirects = map[string]string{
	"google": "/url", "bing": "/ck/", "youtube": "/redirect", "facebook": "/l.php", "linkedin": "/redir/", "doubleclick": "/pcs/click",
	"vk": "/away.php", "baidu": "/link",
}

// programs are the endings of files that machines run, or that hide such files.
var programs = set(".exe", ".scr", ".bat", ".cmd", ".pif", ".jse", ".vbs", ".vbe", ".wsf", ".hta", ".msi", ".jar", ".ps1",
	".lnk", ".iso", ".img", ".apk", ".rar", ".7z", ".ace", ".docm", ".xlsm")

// cheapDomains are top-level domains of which block lists name a large part.
var cheapDomains = set("top", "xyz", "click", "link", "loan", "win", "bid", "icu", "cyou", "buzz", "monster", "rest", "sbs", "cfd", "gq", "tk",
	"ml", "cf", "ga", "work", "date", "racing", "review", "stream", "download", "zip", "mov", "country", "kim", "men", "quest", "bond", "lol")

// commonDomains are endings that make a word the name of a site.
var commonDomains = set("com", "net", "org", "info", "biz", "co", "edu", "gov", "bank", "shop", "app", "uk", "de", "fr", "nl", "it", "es", "pl",
	"eu", "ch", "at", "jp", "br", "in", "ru", "cn", "au", "ca", "us")

// freeMail are domains where anybody gets an address. Their owners ask receivers to refuse mail that others send for them.
var freeMail = set("gmail.com", "googlemail.com", "yahoo.com", "yahoo.co.uk", "yahoo.co.jp", "yahoo.fr", "yahoo.de", "ymail.com", "outlook.com",
	"hotmail.com", "hotmail.co.uk", "hotmail.fr", "live.com", "msn.com", "aol.com", "icloud.com", "me.com", "mac.com", "gmx.com", "gmx.de",
	"gmx.net", "web.de", "t-online.de", "mail.com", "mail.ru", "yandex.ru", "yandex.com", "proton.me", "protonmail.com", "pm.me", "zoho.com",
	"qq.com", "163.com", "126.com", "naver.com", "orange.fr", "free.fr", "laposte.net", "libero.it", "comcast.net", "rediffmail.com",
	"tutanota.com", "fastmail.com", "hey.com")

// brands are names that frauds borrow, and the word that the registered domains of their owners contain.
var brands = map[string]string{
	"paypal": "paypal", "netflix": "netflix", "microsoft": "microsoft", "docusign": "docusign", "coinbase": "coinbase", "binance": "binance",
	"metamask": "metamask", "dhl": "dhl", "fedex": "fedex", "usps": "usps", "amazon": "amazon", "facebook": "facebook",
	"instagram": "instagram", "whatsapp": "whatsapp", "office365": "microsoft", "wellsfargo": "wellsfargo",
	"sparkasse": "sparkasse", "postbank": "postbank", "linkedin": "linkedin", "dropbox": "dropbox",
}
