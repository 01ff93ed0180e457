package spam

// phraseRow lists phrases of one topic and one weight, separated by bars. Case and punctuation do not matter; words do: "cash"
// is not found in "cashier". A topic counts from a weight of countsFrom on, so a light phrase matters only in company.
type phraseRow struct {
	topic  topic
	weight float64
	texts  string
}

// countsFrom is the weight from which on a topic is held against a message.
const countsFrom = 0.6

// phraseTable is the list of what spam says. Weights: 0.3 also in honest mail, 0.6 seldom there, 1 to 2 hardly ever.
var phraseTable = []phraseRow{
	{advanceFee, 1.5, "next of kin|unclaimed inheritance|inheritance fund|deceased client|dormant account|late client|" +
		"fund transfer into your account|consignment box|atm card payment|i am the widow|dying of cancer|donate my fortune|" +
		"share the money|herencia no reclamada|heritage non réclamé|nicht beanspruchte erbschaft|невостребованное наследство"},
	{advanceFee, 1, "million dollars|million us dollars|million usd|million united states dollars|million pounds|million euros|" +
		"millionen euro|millionen us dollar|million d'euros|millones de dólares|milhões de dólares|миллионов долларов|" +
		"barrister|foreign partner|business proposal of mutual benefit|strictly confidential transaction|" +
		"your full name and bank|bank account details|risk free transaction|compensation fund|united nations compensation|" +
		"contract payment|diplomatic courier|百万美元|遗产继承"},
	{advanceFee, 0.6, "god bless you|urgent response|utmost confidentiality|strictly confidential|percent of the total sum|" +
		"your share will be|mutual benefit|trustworthy person"},
	{advanceFee, 0.3, "beneficiary"},

	{prize, 1.5, "you have won|you've won|you are a winner|you are the winner|you are our winner|lottery winner|winning number|claim your prize|" +
		"claim your reward|claim your gift card|unclaimed prize|you have been selected to receive|sweepstakes winner|lucky winner|" +
		"sie haben gewonnen|ihr gewinn wartet|vous avez gagné|has ganado|ha sido seleccionado como ganador|você ganhou|hai vinto|" +
		"вы выиграли|当選しました|您已中奖|恭喜您中奖|لقد ربحت"},
	{prize, 0.6, "congratulations winner|free gift card|free iphone|gift card worth|lottery|sweepstakes|jackpot winner|exclusive reward|" +
		"selected winner|gratis geschenkkarte"},

	{pressure, 0.6, "act now|act immediately|act fast|urgent action required|immediate action required|final notice|last warning|final warning|" +
		"expires today|within 24 hours|within 48 hours|before it's too late|don't delete|do not ignore this|once in a lifetime|" +
		"offer expires|while supplies last|what are you waiting for|limited time only|only today|this won't last|order now|buy now|" +
		"call now|apply now|sofort handeln|jetzt zugreifen|nur heute|letzte mahnung|innerhalb von 24 stunden|agissez maintenant|" +
		"dernier avertissement|actúe ahora|oferta limitada|solo hoy|aja agora|última chance|только сегодня|срочно|" +
		"今すぐクリック|今すぐ申し込み|至急|立即行动|限时|اتصل الآن"},
	{pressure, 0.3, "limited time|hurry|don't miss|exclusive deal|special promotion|click here|click below|click the link below|hier klicken|" +
		"cliquez ici|haga clic aquí|clique aqui|нажмите здесь|ここをクリック|点击这里|اضغط هنا"},
	{pressure, 1, "100 free|risk free|no obligation|no strings attached|satisfaction guaranteed or|100 guaranteed|" +
		"this is not a joke|as seen on tv|no questions asked|zero risk|completely free"},

	{pharmacy, 1.5, "viagra|cialis|levitra|tramadol|xanax|valium|phentermine|oxycodone|hydrocodone|kamagra|sildenafil|tadalafil|виагра"},
	{pharmacy, 1, "online pharmacy|canadian pharmacy|no prescription|without prescription|without a prescription|erectile dysfunction|" +
		"male enhancement|penis enlargement|generic meds|cheap meds|online apotheke ohne rezept|ohne rezept|sans ordonnance|sin receta|" +
		"miracle cure|doctors hate|cbd gummies|last longer in bed|testosterone booster"},

	{crypto, 1.5, "double your bitcoin|double your crypto|double your btc|double your investment|guaranteed returns|guaranteed profit|" +
		"guaranteed daily profit|guaranteed roi|your seed phrase|your recovery phrase|enter your recovery phrase|wallet has been suspended|" +
		"wallet will be suspended|validate your wallet|synchronize your wallet|crypto giveaway|bitcoin giveaway|claim your airdrop|" +
		"free bitcoin|garantierte rendite|garantierte gewinne|ganancias garantizadas|гарантированный доход|保证收益"},
	{crypto, 0.6, "bitcoin investment|crypto investment|forex trading|trading robot|trading bot|binary options|daily profit|" +
		"minimum deposit|your wallet address|investment platform|passive crypto|airdrop|roi in|usdt|signal group|crypto trading"},

	{credentials, 1.5, "verify your account immediately|confirm your password|confirm your identity immediately|your account has been limited|" +
		"your account will be suspended|your account will be closed|your account will be terminated|your account will be deactivated|" +
		"your account has been suspended|your mailbox is full|mailbox quota exceeded|mailbox storage limit|your mailbox will be|" +
		"your password expires today|your password will expire|keep your current password|keep same password|update your billing information|" +
		"update your payment details immediately|unusual activity in your account|re validate your mailbox|unlock your account|" +
		"restore your account access|ihr konto wurde gesperrt|ihr konto wurde eingeschränkt|ihr konto wird gesperrt|" +
		"bestätigen sie ihre identität|votre compte a été suspendu|votre compte sera suspendu|su cuenta ha sido suspendida|" +
		"su cuenta será suspendida|sua conta foi suspensa|ваш аккаунт заблокирован|アカウントが停止|アカウントは停止|アカウントを停止|" +
		"您的账户已被冻结|您的帐户已被冻结|تم تعليق حسابك"},
	{credentials, 0.6, "verify your account|confirm your identity|verify your identity|account suspension|avoid suspension|" +
		"suspicious activity|unauthorized access|security department|online banking|your social security number|" +
		"customs fee|redelivery fee|pending package|package could not be delivered|could not be delivered due|your parcel is on hold|" +
		"tax refund|ihre tan|本人確認|確認してください 制限"},

	{loan, 1, "instant loan|instant approval|guaranteed approval|bad credit ok|no credit check|consolidate your debt|eliminate your debt|" +
		"get out of debt|debt relief|lower your mortgage|refinance now|payday loan|loan at 2|loan at 3|loan offer|kredit ohne schufa|" +
		"sofortkredit|crédit sans justificatif|préstamo inmediato|empréstimo imediato|кредит без проверки"},
	{loan, 0.6, "pre approved|preapproved|bad credit|low interest loan|unsecured loan|interest rate of 2|interest rate of 3|business loan"},

	{income, 1, "work from home|make money fast|make money online|earn extra cash|extra income|be your own boss|financial freedom|" +
		"passive income|multi level marketing|get paid daily|earn per week|earn per day|quit your job|money making|home based business|" +
		"online job opportunity|part time job offer|mystery shopper|geld verdienen|von zuhause verdienen|gagner de l'argent|" +
		"ganar dinero|ganhar dinheiro|заработок в интернете|副業で稼ぐ|在宅で稼ぐ|兼职赚钱"},
	{income, 0.6, "per week from home|per day from home|no experience needed|no experience required|unlimited income|cash bonus|fast cash|" +
		"extra cash|weekly pay"},

	{gambling, 1, "online casino|free spins|no deposit bonus|welcome bonus|casino bonus|betting tips|sure win|slot games|sportwetten bonus|" +
		"casino en ligne|casino en línea|онлайн казино|オンラインカジノ|在线赌场"},
	{gambling, 0.6, "casino|jackpot|roulette|blackjack|poker bonus|place your bet"},

	{adult, 1.5, "hot singles|singles in your area|sexy singles|meet women tonight|lonely housewives|naked pictures|nude photos|adult dating|" +
		"xxx videos|hookup tonight|russian brides|hot girls|heiße frauen|geile frauen|rencontres coquines|chicas calientes|出会い系|无码"},
	{adult, 0.6, "porn|webcam girls|sexy|dating site|erotic"},

	{diet, 1, "lose weight fast|weight loss pill|weight loss secret|burn fat|burns fat|melt fat|belly fat|keto gummies|fat burner|" +
		"lose 20 pounds|lose 30 pounds|without diet or exercise|without dieting|schnell abnehmen|maigrir vite|adelgazar rápido|похудеть быстро"},
	{diet, 0.6, "weight loss|miracle pill|anti aging secret|reverse aging"},

	{promotion, 1, "first page of google|page one of google|page 1 of google|rank your website|website ranking|seo services|seo expert|" +
		"high quality backlinks|guest post|link building|web design services|redesign your website|mobile app development services|" +
		"targeted email list|email database|million email addresses|bulk email|increase your traffic|errors on your website|" +
		"followers for|buy followers|logo design services"},
	{promotion, 0.6, "search engine optimization|backlinks|affordable price|website traffic|leads for your business|digital marketing company"},

	{extortion, 2, "recorded you|i recorded a video|recorded a video of you|i hacked your|i have hacked|hacked your device|" +
		"hacked your operating system|masturbating|pleasuring yourself|i installed malware|" +
		"i have access to your device|trojan on your|habe ihre webcam|ihr gerät gehackt|j'ai piraté votre|he hackeado tu|я взломал"},
	{extortion, 1, "my bitcoin wallet|bitcoin wallet address|bitcoin address|pay in bitcoin|bitcoin to the|transfer the bitcoin|" +
		"48 hours to pay|hours to make the payment|darknet|embarrassing video|i know your password"},
	{extortion, 0.5, "your webcam|send the video to|all your contacts|your password is"},

	{disclaimer, 1, "this is not spam|this is not a spam|this email is not spam|this message is not spam|sent in compliance with|bill 1618|" +
		"senate bill|not unsolicited|one time mailing|one time email|you received this because you opted in|to be removed from|" +
		"remove me in the subject|reply with remove|type remove|dies ist kein spam|ceci n'est pas un spam|esto no es spam|это не спам"},

	{greeting, 0.6, "dear friend|dear beneficiary|dear sir madam|dear sir or madam|dear valued customer|dear customer|dear user|" +
		"dear email user|dear account holder|dear account owner|dear winner|dear webmail user|hello dear|dearest one|dear beloved|my beloved|beloved in|attention beneficiary|" +
		"sehr geehrter kunde|lieber kunde|cher client|estimado cliente|prezado cliente|уважаемый клиент|尊敬的客户|お客様各位"},

	{filler, 1, "lorem ipsum|dolor sit amet|consectetur adipiscing|insert text here|your text here|your company name|company name here|" +
		"platzhaltertext"},

	{unsubscribing, 1, "unsubscribe|opt out|email preferences|manage your preferences|stop receiving these emails|abmelden|abbestellen|" +
		"désabonner|désinscrire|darse de baja|cancelar suscripción|descadastrar|disiscriviti|afmelden|отписаться|配信停止|退订|إلغاء الاشتراك"},
}
