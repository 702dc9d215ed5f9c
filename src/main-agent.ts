// The wrapper binary: `teams-agent …` is `teams agent …`.
process.argv.splice(2, 0, "agent");
void import("./main.ts");
