/** The one page for unknown, expired and revoked: nothing in it tells them apart. */
import { createHash } from "node:crypto";

const STYLE = `
:root{color-scheme:light dark}body{margin:20vh auto 0;max-width:32rem;padding:0 1rem;background:#fbfbfa;
color:#1c1c1a;font:.9375rem/1.6 Inter,system-ui,sans-serif}h1{font-size:1.25rem;font-weight:600;margin:0}p{
color:#575752}@media (prefers-color-scheme:dark){body{background:#111214;color:#ececea}p{color:#b3b5ba}}
`;

export const NOT_FOUND_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export const NOT_FOUND_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>Not found</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Nothing is shared here</h1>
<p>The link is wrong, or what it led to is no longer shared.</p>
</main>
</body>
</html>
`;
