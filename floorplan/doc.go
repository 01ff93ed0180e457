// Package floorplan holds the house together: its tests read every source file and compare it with floorplan.txt, which says
// who may import whom, and with the ground rules, which say that time, chance, names and connections come from world.
//
// It has no code of its own, imports nothing of the house, and is imported by nobody.
package floorplan
