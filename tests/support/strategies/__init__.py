"""What Hypothesis draws: conversations, texts, requests, policies, settings, definitions of tools."""
