package app

import "testing"

func TestADoorIsWhereItIsWishedUnlessSomebodyIsThere(t *testing.T) {
	t.Parallel()
	const wished = "127.0.0.77:2587" // an address of loopback that nothing else in the tests has
	d := door{address: "127.0.0.1:0", wished: wished}
	first, err := d.listen()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := d.listen()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if first.Addr().String() != wished || second.Addr().String() == wished {
		t.Errorf("the first is at %s, the second at %s", first.Addr(), second.Addr())
	}
}
