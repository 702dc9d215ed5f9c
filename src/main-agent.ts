// The entry of the binary `teams-agent`: `teams-agent …` is `teams agent …`.
process.argv.splice(2, 0, "agent");
void import("./main.ts");
