import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";

/** Returns a PATH whose first `tmux` prints this text and fails. */
function failing(cli: Cli, text: string): { PATH: string } {
  const bin = join(cli.directory, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "tmux"), `#!/bin/sh\necho '${text}' >&2\nexit 1\n`);
  chmodSync(join(bin, "tmux"), 0o755);
  return { PATH: `${bin}:${cli.env.PATH}` };
}

describe("teams spawn when tmux fails", () => {
  it("reports the command and tmux's message, says that nothing was done, and adds no member", async () => {
    const cli = cliIn();
    const text = "protocol version mismatch (client 8, server 7)";
    const env = failing(cli, text);
    expect((await cli(["create", "crew"])).code).toBe(0);
    const words = ["spawn", "ada", "--model", "scripted", "--teammate-mode", "tmux"];
    const ended = await cli([...words, "--json"], { env });
    expect(ended.code).toBe(1);
    expect(ended.error()).toMatchObject({
      code: "TMUX_ERROR",
      message: expect.stringContaining(text),
      details: {
        kind: "refused",
        done: "nothing",
        command: expect.arrayContaining(["list-panes"]),
        stderr: text,
      },
    });
    const seen = await cli(words, { env });
    expect(seen.err).toMatch(/\(TMUX_ERROR\)\n {2}hint: /);
    const status = (await cli(["status", "--json"])).json<{ members: { name: string }[] }>();
    expect(status.members.map(({ name }) => name)).toEqual(["team-lead"]);
  });
});
