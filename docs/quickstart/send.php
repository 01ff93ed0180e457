<?php
$curl = curl_init(getenv('POSTRIDER_URL') . '/v1/emails');
curl_setopt_array($curl, [
    CURLOPT_POST => true,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => ['Authorization: Bearer ' . getenv('POSTRIDER_API_KEY'), 'Content-Type: application/json'],
    CURLOPT_POSTFIELDS => json_encode(['from' => 'Acme <hello@acme.test>', 'to' => 'ada@example.net', 'subject' => 'Welcome', 'html' => '<p>Hello Ada</p>']),
]);
$answer = json_decode(curl_exec($curl), true);
if (curl_getinfo($curl, CURLINFO_RESPONSE_CODE) !== 202) {
    exit($answer['error']['message'] . "\n");
}
echo $answer['id'], "\n";
