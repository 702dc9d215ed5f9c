import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { settingsSchema } from "../../../src/settings/settings-schema.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";

function write(cli: Cli, file: string, value: unknown): void {
  const path = join(cli.directory, file);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}

interface Schema {
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

describe("teams settings", () => {
  it("prints the effective settings and their files, and lists ignored entries", async () => {
    const cli = cliIn();
    const env = { MY_TOKEN: "tok-0123456789", PLAIN: "seen" };
    write(cli, "home/settings.json", { permissions: { allow: ["Read"] }, env, theme: "dark" });
    write(cli, ".claude/settings.json", { permissions: { allow: ["Bash"], deny: ["Write"] } });
    const printed = await cli(["settings", "--json"]);
    expect(printed.out).not.toContain("tok-0123456789");
    const files = [join(cli.root, "settings.json"), join(cli.directory, ".claude", "settings.json")];
    expect(printed.json()).toMatchObject({
      files: [...files, expect.stringContaining("managed-settings.json")],
      ignored: [expect.stringMatching(/settings\.json: permissions\.allow$/)],
      settings: {
        permissions: { allow: ["Read"], deny: ["Write"] },
        env: { PLAIN: "seen" },
        teams: { stuckAfter: 600, hooks: { maxContinuations: 5 } },
      },
    });
    const shown = await cli(["settings"]);
    expect(JSON.parse(shown.out)).toMatchObject({ theme: "dark" });
    expect(shown.err).toContain("Not trusted, so ignored: ");
    write(cli, "home/settings.json", { teams: { stuckAfter: "long" } });
    expect((await cli(["settings", "--json"])).error()).toMatchObject({ code: "CORRUPT_FILE" });
  });

  it("masks the credentials that servers may contain, and keeps their programs and hosts", async () => {
    const cli = cliIn();
    const mcpServers = {
      local: {
        command: "npx",
        args: ["--key", "s-1"],
        env: { A: "s-2" },
        disabled: true,
        note: { b: "s-3" },
      },
      web: { type: "http", url: "https://me:s-4@mcp.example.com:8443/s-5?t=s-6", headers: { Auth: "s-7" } },
      odd: "s-8",
    };
    write(cli, "home/settings.json", { mcpServers });
    const [shown, printed] = [await cli(["settings"]), await cli(["settings", "--json"])];
    expect(shown.out + printed.out).not.toMatch(/s-\d/);
    expect(printed.json()).toMatchObject({
      settings: {
        mcpServers: {
          local: { command: "npx", args: ["[secret]", "[secret]"], env: { A: "[secret]" }, disabled: true },
          web: {
            type: "http",
            url: "https://[secret]@mcp.example.com:8443/[secret]",
            headers: { Auth: "[secret]" },
          },
          odd: "[secret]",
        },
      },
    });
  });

  it("masks text in commands that looks like a secret, and keeps the rest", async () => {
    const cli = cliIn();
    const notify =
      "curl -H 'Authorization: Bearer s-1' https://u:s-2@ntfy.example.com/x --token s-3 -d \"$1\"";
    const commands = ["MY_TOKEN=s-4 ./check 'a b'", "curl -u me:s-5 -H 'X-Api-Key: s-6' -H 'Accept: text'"];
    const hooks = { Stop: [{ hooks: commands.map((command) => ({ type: "command", command })) }] };
    write(cli, "home/settings.json", { hooks, teams: { notify } });
    const { settings } = (await cli(["settings", "--json"])).json<{
      settings: { hooks: typeof hooks; teams: { notify: string } };
    }>();
    expect(settings.teams.notify).toBe(
      "curl -H 'Authorization: Bearer [secret]' https://[secret]@ntfy.example.com/x --token [secret] -d \"$1\"",
    );
    expect(settings.hooks.Stop[0]?.hooks.map(({ command }) => command)).toEqual([
      "MY_TOKEN=[secret] ./check 'a b'",
      "curl -u [secret] -H 'X-Api-Key: [secret]' -H 'Accept: text'",
    ]);
  });

  it("prints the schema with a description of each teams key, and defaults as in the documentation", async () => {
    const { properties = {} } = (await cliIn()(["settings", "--schema", "--json"])).json<Schema>();
    const ours = properties.teams?.properties ?? {};
    expect(Object.keys(ours)).toEqual(expect.arrayContaining(CONTRACT));
    const leaves = Object.entries(ours).flatMap(([name, one]) =>
      one.properties === undefined
        ? [[name, one] as const]
        : Object.entries(one.properties).map(([inner, of]) => [`${name}.${inner}`, of] as const),
    );
    const page = readFileSync("docs/settings.md", "utf8");
    for (const [name, { description, default: value }] of leaves) {
      expect(description, name).toBeTruthy();
      // A row of the documentation: `teams.stuckAfter` | 600 |
      const json = value === undefined || JSON.stringify(value) === "{}" ? "none" : JSON.stringify(value);
      const cell = json === "[]" ? "none" : json;
      expect(page, name).toMatch(new RegExp(`\\| \`teams\\.${name}\` \\| ${cell} \\|`));
    }
  });

  it("prints the schema of playbooks, which allows $schema but no unknown keys", async () => {
    const cli = cliIn();
    const schema = (await cli(["settings", "--schema", "playbook", "--json"])).json<Schema>();
    expect(schema).toMatchObject({
      properties: { $schema: {}, version: { const: 1 }, agents: {} },
      required: ["version", "agents"],
      additionalProperties: false,
    });
    expect(JSON.stringify(schema)).toContain('"delayMs":{"type":"number","minimum":0,"maximum":600000}');
    expect(await cli(["settings", "--schema", "team"])).toMatchObject({ code: 2 });
  });

  it("accepts all examples of the documentation", () => {
    const page = readFileSync("docs/settings.md", "utf8");
    const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
    expect(examples.length).toBeGreaterThan(0);
    for (const text of examples) expect(settingsSchema.safeParse(JSON.parse(text)).success).toBe(true);
  });
});

/** The keys that protocol.md section 1 names. */
const CONTRACT = [
  "worktreeDir",
  "verify",
  "hooks",
  "prices",
  "models",
  "notify",
  "stuckAfter",
  "record",
  "adapters",
  "minPane",
  "passSecrets",
];
