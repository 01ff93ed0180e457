curl "$POSTRIDER_URL/v1/emails" \
  -H "Authorization: Bearer $POSTRIDER_API_KEY" \
  -H "Content-Type: application/json" \
  -H "Idempotency-Key: welcome-ada-1" \
  -d '{"from": "Acme <hello@acme.test>", "to": "ada@example.net", "subject": "Welcome", "html": "<p>Hello Ada</p>"}'
