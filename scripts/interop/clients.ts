import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Program } from "./program.ts";
import type { Crew } from "./team/crew.ts";

/** A program that is started as an MCP client, not as a member. */
export interface Client {
  /** Its name in `teams mcp --config`. */
  readonly name: string;
  /** A remark for the person who sets it up. */
  readonly remark?: string;
  /** Puts a configuration where the program reads it. */
  configure(crew: Crew, text: string): void;
  /** Returns the configuration of a server that speaks HTTP. */
  http(url: string, token: string): string;
  /** Returns the command that runs one turn without a screen. */
  command(prompt: string): { readonly argv: readonly string[]; readonly input?: string };
}

const SERVER = "teams";
const MCP_FILE = ".mcp-of-a-person.json";
const bearer = (token: string): object => ({ Authorization: `Bearer ${token}` });
const servers = (entry: object): string => JSON.stringify({ mcpServers: { [SERVER]: entry } });

/** Merges a JSON configuration into a file of the home. */
function mergeInto(file: string) {
  return ({ home }: Crew, text: string): void => {
    const path = join(home, file);
    const before = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
    write(path, JSON.stringify({ ...before, ...JSON.parse(text) }));
  };
}

const CLIENTS: Readonly<Record<string, Client>> = {
  inbox: {
    name: "claude",
    configure: ({ repo }, text) => write(join(repo, MCP_FILE), text),
    http: (url, token) => servers({ type: "http", url, headers: bearer(token) }),
    command: (prompt) => ({
      // `-p` ends the values of `--allowedTools`, which takes several.
      argv: [
        "claude",
        "--mcp-config",
        MCP_FILE,
        "--allowedTools",
        `mcp__${SERVER}`,
        "--permission-mode",
        "default",
        "-p",
        prompt,
      ],
    }),
  },
  "app-server": {
    name: "codex",
    remark: "with `required = true`: otherwise a turn may begin without the tools of a slow server",
    configure({ home }, text) {
      const path = join(home, ".codex/config.toml");
      const waiting = text.replace(
        "default_tools_approval_mode",
        "required = true\ndefault_tools_approval_mode",
      );
      // An earlier configuration of the server is replaced.
      const [before] = readFileSync(path, "utf8").split(`\n[mcp_servers.${SERVER}]`);
      write(path, `${before}\n${waiting}\n`);
    },
    http: (url, token) =>
      `[mcp_servers.${SERVER}]\nurl = "${url}"\nhttp_headers = { Authorization = "Bearer ${token}" }\ndefault_tools_approval_mode = "approve"`,
    command: (prompt) => ({ argv: ["codex", "exec", "--skip-git-repo-check", prompt] }),
  },
  http: {
    name: "opencode",
    configure: mergeInto(".config/opencode/opencode.json"),
    http: (url, token) =>
      JSON.stringify({ mcp: { [SERVER]: { type: "remote", url, headers: bearer(token), enabled: true } } }),
    // opencode quotes an argument that contains spaces.
    command: (prompt) => ({ argv: ["opencode", "run"], input: prompt }),
  },
  hooks: {
    name: "gemini",
    configure: mergeInto(".gemini/settings.json"),
    http: (url, token) => servers({ httpUrl: url, headers: bearer(token), trust: true }),
    command: (prompt) => ({ argv: ["gemini", "--skip-trust", "-p", prompt] }),
  },
  files: {
    name: "qwen",
    configure: mergeInto(".qwen/settings.json"),
    http: (url, token) => servers({ httpUrl: url, headers: bearer(token), trust: true }),
    command: (prompt) => ({ argv: ["qwen", "-p", prompt] }),
  },
};

/** Returns how a program is configured and run as a client. @throws Error for a program that another column covers */
export function clientOf({ id, channel }: Program): Client {
  const client = CLIENTS[channel];
  if (client === undefined) throw new Error(`${id} is not a separate client`);
  return client;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
}
