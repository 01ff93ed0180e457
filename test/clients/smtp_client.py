"""Python's own mail library hands in a message, over both ports."""
import os, smtplib, ssl
from email.message import EmailMessage

def address(name):
    host, port = os.environ[name].rsplit(":", 1)
    return host, int(port)

context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

def message(to):
    m = EmailMessage()
    m["From"], m["To"], m["Subject"] = "Acme <hello@acme.test>", to, "Prüfung"
    m.set_content("Grüße\n.\nFrom here\n")
    m.add_alternative("<p>Grüße</p>", subtype="html")
    m.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="Zahlen €.csv")
    return m

with smtplib.SMTP(*address("SUBMISSION")) as server:
    server.starttls(context=context)
    server.login("postrider", os.environ["KEY"])
    assert server.send_message(message("smtplib@example.net")) == {}

with smtplib.SMTP_SSL(*address("SUBMISSIONS"), context=context) as server:
    server.login("postrider", os.environ["KEY"])
    assert server.send_message(message("smtplibs@example.net")) == {}
    try:
        server.sendmail("x@elsewhere.test", "a@example.net", "From: x@elsewhere.test\r\n\r\nx")
        raise SystemExit("mail from a domain of nobody was taken")
    except smtplib.SMTPSenderRefused as refused:
        assert refused.smtp_code == 550, refused
