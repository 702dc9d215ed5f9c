import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { recordTrust } from "../../support/files/trust-record.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

/** Creates a trusted project and a root with these files. @returns the doctor's findings about the files that agents read */
async function doctor(files: Readonly<Record<string, string | Buffer>>) {
  const cli = cliIn();
  const at = (path: string): string => path.replace(/^root/, cli.root).replace(/^project/, cli.directory);
  mkdirSync(join(cli.directory, ".git"), { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(at(path), ".."), { recursive: true });
    writeFileSync(at(path), content);
  }
  recordTrust(cli.root, cli.directory);
  const { checks } = (await cli(["doctor", "--json"])).json<{
    checks: { name: string; level: string; text: string }[];
  }>();
  const names = ["agent types", "skills", "memory files", "MCP servers", "agents' files"];
  const found = checks.filter(({ name }) => names.includes(name));
  return found.map(({ name, level, text }) => `${level} ${name}: ${text.replaceAll(cli.directory, "")}`);
}

describe("teams doctor", () => {
  it("warns about each file that agents would leave out, with the reason", async () => {
    const found = await doctor({
      "root/agents/nameless.md": "You write.\n",
      "root/skills/wide/SKILL.md": Buffer.from("\ufeff---\nname: wide\n---\nText\n", "utf16le"),
      "project/CLAUDE.md": "@missing.md\n",
      "project/.mcp.json": "{",
    });
    expect(found).toEqual([
      expect.stringMatching(/^warn agent types: not used by agents: .*nameless\.md: its front matter has no/),
      expect.stringMatching(/^warn skills: not used by agents: .*wide\/SKILL\.md: .*binary file/),
      expect.stringMatching(/^warn memory files: not used by agents: .*CLAUDE\.md: .*missing\.md/),
      expect.stringMatching(/^warn MCP servers: not used by agents: .*\.mcp\.json is not JSON/),
    ]);
  });

  it("says nothing about files that agents can use, with a byte order mark or empty", async () => {
    const found = await doctor({
      "root/agents/scribe.md": "\ufeff---\r\nname: scribe\r\n---\r\nYou write.\r\n",
      "root/skills/sail/SKILL.md": "\ufeff---\nname: sail\n---\nHoist.\n",
      "root/skills/README.md": "About these.\n",
      "project/CLAUDE.md": "",
      "project/.mcp.json": '\ufeff{ "mcpServers": { "boat": { "command": "boat" } } }',
    });
    expect(found).toEqual([]);
  });
});
