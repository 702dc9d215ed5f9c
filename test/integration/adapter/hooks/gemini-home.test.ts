import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GeminiHome, hasConversation } from "../../../../src/adapter/hooks/gemini-home.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const HOOK = { event: "BeforeTool", name: "teams", command: "true" } as const;

const unexpected = (note: string): never => {
  throw new Error(note);
};

function setUp() {
  const HOME = temporaryDirectory();
  const own = join(HOME, ".gemini");
  mkdirSync(own);
  const home = new GeminiHome(join(HOME, "private"), { HOME });
  return { env: { HOME }, own, home, inside: join(HOME, "private/.gemini"), cwd: join(HOME, "project") };
}

test("the home of Gemini › has links to the user's files, and its own settings", () => {
  const { own, home, inside, cwd } = setUp();
  writeFileSync(join(own, "GEMINI.md"), "notes");
  writeFileSync(
    join(own, "settings.json"),
    '{ "hooksConfig": { "enabled": false, "disabled": ["teams", "mine"] }, "mcpServers": { "a": {} }, }',
  );
  home.create([HOOK], [{ name: "teams", command: "x", args: [], env: {} }], cwd);
  expect(readlinkSync(join(inside, "GEMINI.md"))).toBe(join(own, "GEMINI.md"));
  expect(JSON.parse(readFileSync(join(inside, "settings.json"), "utf8"))).toMatchObject({
    hooks: { BeforeTool: [{ hooks: [{ name: "teams", command: "true" }] }] },
    hooksConfig: { enabled: true, disabled: ["mine"] },
    general: { enableAutoUpdate: false },
    mcpServers: { a: {}, teams: { command: "x", trust: true } },
  });
});

test("the home of Gemini › copies back a login file that replaced its link, or is new", () => {
  const { own, home, inside, cwd } = setUp();
  writeFileSync(join(own, "oauth_creds.json"), "old");
  home.create([HOOK], [], cwd);
  rmSync(join(inside, "oauth_creds.json"));
  writeFileSync(join(inside, "oauth_creds.json"), "renewed");
  writeFileSync(join(inside, "trustedFolders.json"), "new, through its link");
  home.restoreLoginFiles(unexpected);
  expect(readFileSync(join(own, "oauth_creds.json"), "utf8")).toBe("renewed");
  expect(readFileSync(join(own, "trustedFolders.json"), "utf8")).toBe("new, through its link");
});

test("the home of Gemini › keeps a login that is newer than the file in place of its link", () => {
  const { own, home, inside, cwd } = setUp();
  writeFileSync(join(own, "oauth_creds.json"), "old");
  home.create([HOOK], [], cwd);
  rmSync(join(inside, "oauth_creds.json"));
  writeFileSync(join(inside, "oauth_creds.json"), "renewed");
  writeFileSync(join(own, "oauth_creds.json"), "of another account");
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(own, "oauth_creds.json"), later, later);
  home.restoreLoginFiles(unexpected);
  expect(readFileSync(join(own, "oauth_creds.json"), "utf8")).toBe("of another account");
});

test.each([
  ["in the order of their writes", ["older", "newer"]],
  ["in the other order", ["newer", "older"]],
])("the home of Gemini › keeps the newest login when two members end %s", (_order, names) => {
  const { own, cwd, env } = setUp();
  const login = (directory: string): string => join(directory, "oauth_creds.json");
  writeFileSync(login(own), "old");
  utimesSync(login(own), 1_000, 1_000);
  const homes = new Map(
    ["older", "newer"].map((name, i) => {
      const home = new GeminiHome(join(env.HOME, name), env);
      home.create([HOOK], [], cwd);
      const inside = login(join(env.HOME, name, ".gemini"));
      rmSync(inside);
      writeFileSync(inside, name);
      utimesSync(inside, 2_000 + i, 2_000 + i);
      return [name, home];
    }),
  );
  for (const name of names) homes.get(name)?.restoreLoginFiles(unexpected);
  expect(readFileSync(login(own), "utf8")).toBe("newer");
});

test("the home of Gemini › notes a login that cannot be copied back, and copies the others", () => {
  const { own, home, inside, cwd } = setUp();
  const names = ["oauth_creds.json", "state.json"];
  home.create([HOOK], [], cwd);
  // A directory in place of the file cannot be replaced.
  mkdirSync(join(own, "oauth_creds.json/inner"), { recursive: true });
  utimesSync(join(own, "oauth_creds.json"), 1, 1);
  for (const name of names) {
    unlinkSync(join(inside, name));
    writeFileSync(join(inside, name), "renewed");
  }
  const notes: string[] = [];
  home.restoreLoginFiles((note) => notes.push(note));
  expect(notes).toEqual([expect.stringContaining("the oauth_creds.json that Gemini has written")]);
  expect(readFileSync(join(own, "state.json"), "utf8")).toBe("renewed");
});

test("the home of Gemini › copies a renewed login to the target of the user's link", () => {
  const { own, home, inside, cwd, env } = setUp();
  const dotfile = join(env.HOME, "dotfiles-login.json");
  writeFileSync(dotfile, "old");
  symlinkSync(dotfile, join(own, "oauth_creds.json"));
  home.create([HOOK], [], cwd);
  rmSync(join(inside, "oauth_creds.json"));
  writeFileSync(join(inside, "oauth_creds.json"), "renewed");
  home.restoreLoginFiles(unexpected);
  expect(readlinkSync(join(own, "oauth_creds.json"))).toBe(dotfile);
  expect(readFileSync(dotfile, "utf8")).toBe("renewed");
});

test.each([
  ['{ hooksConfig: 1, "hooksConfig": { "disabled": ["teams"] } }', "turns off hooks"],
  ['{ "mcpServers": { "teams": {} } }', 'defines an MCP server "teams"'],
])("the home of Gemini › refuses a project with the settings %s", (text, why) => {
  const { home, cwd } = setUp();
  mkdirSync(join(cwd, ".gemini"), { recursive: true });
  writeFileSync(join(cwd, ".gemini/settings.json"), text);
  expect(() => home.create([HOOK], [], cwd)).toThrow(why);
});

test("the home of Gemini › finds the record of a conversation, even next to an unreadable project", () => {
  const { own, env } = setUp();
  mkdirSync(join(own, "tmp/p/chats"), { recursive: true });
  // A link to itself is unreadable even for the superuser.
  symlinkSync("loop", join(own, "tmp/loop"));
  writeFileSync(join(own, "tmp/p/chats/session-2026-01-01T00-00-01234567.jsonl"), "");
  expect(["01234567-89ab-cdef", "76543210-89ab-cdef"].map((id) => hasConversation(env, id))).toEqual([
    true,
    false,
  ]);
});

test("the home of Gemini › does not link temporary files of other processes", () => {
  const { own, home, inside, cwd } = setUp();
  for (const name of ["GEMINI.md", "projects.json.123.tmp", "state.lock"]) writeFileSync(join(own, name), "");
  home.create([HOOK], [], cwd);
  expect(
    readdirSync(inside)
      .filter((name) => /GEMINI|tmp|lock/.test(name))
      .sort(),
  ).toEqual(["GEMINI.md", "tmp"]);
});

test.each([
  ["a keychain without a key in the environment", {}, "{}", true],
  ["no keychain with a key in the environment", { GEMINI_API_KEY: "k" }, "{}", false],
  [
    "no keychain with another login",
    {},
    '{ "security": { "auth": { "selectedType": "oauth-personal" } } }',
    false,
  ],
])("the home of Gemini › expects %s", (_what, env, settings, expected) => {
  const { own, env: home } = setUp();
  writeFileSync(join(own, "settings.json"), settings);
  expect(new GeminiHome(join(own, "../private"), { ...home, ...env }).usesKeychain).toBe(expected);
});
