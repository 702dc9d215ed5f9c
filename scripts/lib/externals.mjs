/**
 * Packages that are not bundled: blessed reads files of its own package, and the MCP client would pull parts of zod into
 * every command.
 */
export const EXTERNAL = /^(blessed|@modelcontextprotocol\/client)($|\/)/;
