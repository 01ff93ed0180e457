"""Prints as JSON what Python's email package reads in a message: its author, subject, texts and files."""
import email, email.policy, hashlib, json, sys

message = email.message_from_binary_file(open(sys.argv[1], "rb"), policy=email.policy.default)
text, html = message.get_body(("plain",)), message.get_body(("html",))
print(json.dumps({
    "from": message["from"].addresses[0].addr_spec,
    "subject": message["subject"],
    "message_id": message["message-id"],
    "text": text.get_content().strip() if text else None,
    "html": html.get_content().strip() if html else None,
    "files": [{"filename": part.get_filename(), "content_type": part.get_content_type(),
               "sha256": hashlib.sha256(part.get_payload(decode=True)).hexdigest()}
              for part in message.walk() if part.get_content_disposition() in ("attachment", "inline")],
}))
