// What both kinds of floats share.

// EACH does something for every limb, by its offset.
#define EACH(DO) \
	DO(0); \
	DO(64); \
	DO(128); \
	DO(192); \
	DO(256); \
	DO(320); \
	DO(384); \
	DO(448); \
	DO(512); \
	DO(576); \
	DO(640); \
	DO(704); \
	DO(768); \
	DO(832); \
	DO(896); \
	DO(960); \
	DO(1024); \
	DO(1088); \
	DO(1152); \
	DO(1216)

// ENTER goes to the row of a square whose number is in R9, but for the last. Rows lie one after the other: whoever enters at one goes through those that follow.
#define ENTER \
	CMPQ R9, $1; \
	JEQ row1; \
	CMPQ R9, $2; \
	JEQ row2; \
	CMPQ R9, $3; \
	JEQ row3; \
	CMPQ R9, $4; \
	JEQ row4; \
	CMPQ R9, $5; \
	JEQ row5; \
	CMPQ R9, $6; \
	JEQ row6; \
	CMPQ R9, $7; \
	JEQ row7; \
	CMPQ R9, $8; \
	JEQ row8; \
	CMPQ R9, $9; \
	JEQ row9; \
	CMPQ R9, $10; \
	JEQ row10; \
	CMPQ R9, $11; \
	JEQ row11; \
	CMPQ R9, $12; \
	JEQ row12; \
	CMPQ R9, $13; \
	JEQ row13; \
	CMPQ R9, $14; \
	JEQ row14; \
	CMPQ R9, $15; \
	JEQ row15; \
	CMPQ R9, $16; \
	JEQ row16; \
	CMPQ R9, $17; \
	JEQ row17; \
	CMPQ R9, $18; \
	JEQ row18; \
	JMP row0
