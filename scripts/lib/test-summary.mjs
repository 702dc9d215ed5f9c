/**
 * Prints the last lines of scripts/test and scripts/matrix: failed, repeated and skipped tests by name, then `N passed, N failed`.
 *
 *   node scripts/lib/test-summary.mjs <number of checks> <vitest's JSON report> <vitest's exit status> [failed checks…]
 */
import fs from "node:fs";

/** `checks` is the number of checks that ran before the tests; each counts as one test. */
const [checks = "0", file = "", status = "1", ...failedChecks] = process.argv.slice(2);
const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
const report = text === "" ? { testResults: [] } : JSON.parse(text);
const suites = report.testResults;
const tests = suites.flatMap((suite) => suite.assertionResults);

const failed = tests.filter((test) => test.status === "failed").map((test) => test.fullName);
// A file that could not be loaded contains no failed test.
const broken = suites
  .filter((suite) => suite.status === "failed" && !hasFailure(suite))
  .map((suite) => suite.name);
const skipped = tests
  .filter((test) => !["passed", "failed"].includes(test.status))
  .map((test) => test.fullName);
const passed = tests.filter((test) => test.status === "passed").length + Number(checks) - failedChecks.length;
let failures = failedChecks.length + failed.length + broken.length;
// vitest reports an error outside every test itself; it counts as one failure.
if (failures === failedChecks.length && status !== "0") failures += 1;

for (const name of failedChecks) console.log(`failed: ${name}`);
for (const name of [...broken, ...failed]) console.log(`failed: ${name}`);
// A passed test with a failure did not pass at its first try.
for (const { fullName, status: end, failureMessages = [] } of tests) {
  if (end === "passed" && failureMessages.length > 0)
    console.log(`repeated: ${fullName} (${failureMessages[0].split("\n")[0]})`);
}
for (const name of skipped) console.log(`skipped: ${name}`);
console.log(`${passed} passed, ${failures} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`);
if (failures > 0) process.exitCode = 1;

function hasFailure(suite) {
  return suite.assertionResults.some((test) => test.status === "failed");
}
