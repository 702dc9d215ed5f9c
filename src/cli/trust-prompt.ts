import { systemClock } from "../os/clock.ts";
import { loadSettings } from "../settings/settings.ts";
import { setTrust, trustDecision } from "../settings/trust.ts";
import { teamsHome } from "../team/ref.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line } from "../terminal/paint.ts";

/**
 * Asks the person at this terminal, once for each repository, whether what this directory brings is to count (protocol.md
 * section 1, Trust). Without a terminal, and where it brings nothing, nobody is asked.
 */
export async function askTrust({ io, out, options }: AnyCall): Promise<void> {
  if (out.json || options.quiet || !io.terminal.stdin || !io.terminal.stdout) return;
  const { root } = teamsHome(io.env);
  const { ignored } = loadSettings(root, io.cwd);
  if (ignored.length === 0 || trustDecision(root, io.cwd) !== undefined) return;
  io.out("This directory brings settings of its own, which can run commands as you:\n");
  for (const one of ignored) io.out(line`  ${one}\n`);
  io.out("Shall they count? Only if you trust whoever made them. [y/N] ");
  const answer = await io.readLine();
  const trusted = /^y(es)?$/i.test(answer?.trim() ?? "");
  // The end of the input is no answer.
  if (answer === undefined) return;
  await setTrust(root, io.cwd, trusted, systemClock);
  io.out(
    trusted ? "Trusted; teams trust --revoke takes it back.\n" : "Not trusted; teams trust changes it.\n",
  );
}
