import json, os, urllib.request

request = urllib.request.Request(
    os.environ["POSTRIDER_URL"] + "/v1/emails",
    data=json.dumps({"from": "Acme <hello@acme.test>", "to": "ada@example.net", "subject": "Welcome", "html": "<p>Hello Ada</p>"}).encode(),
    headers={"Authorization": "Bearer " + os.environ["POSTRIDER_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["id"])
