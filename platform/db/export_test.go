package db

// HorizonOf is Horizon at the moment that a transaction sees.
var HorizonOf = horizonOf
